#include "operators/image/brgnchwc_to_packed_int8_bgra_stylizer_deprocess.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// NaN becomes 0, because the comparison with NaN is false.
inline CAFFE2RT_SIMD_INLINE uint8_t ToByte(float value) {
  value = value > 0 ? value : 0;
  value = value < 255 ? value : 255;
  return static_cast<uint8_t>(static_cast<int32_t>(value));
}

CAFFE2RT_SIMD void PackRun(int64_t n, const float* __restrict x, const float* mean,
                           uint8_t* __restrict y) {
  const float mean0 = mean[0], mean1 = mean[1], mean2 = mean[2];
  for (int64_t i = 0; i < n; ++i) {
    y[4 * i] = ToByte(x[i] + mean0);
    y[4 * i + 1] = ToByte(x[n + i] + mean1);
    y[4 * i + 2] = ToByte(x[2 * n + i] + mean2);
    y[4 * i + 3] = 255;
  }
}

std::vector<TensorShape> InferBrgnchwcToPackedInt8BgraStylizerDeprocess(
    const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE(dims.size() == 4 && dims[1] == 3, "input 0 (X), want shape [N, 3, H, W]");
  return {
      CreateTensorShape(std::vector<int64_t>{dims[0], dims[2], dims[3], 4}, TensorProto::UINT8)};
}

}  // namespace

void PackPixels(CPUContext&, int64_t pixels, const float* x, const float* mean, uint8_t* y) {
  PackRun(pixels, x, mean, y);
}

void RegisterBrgnchwcToPackedInt8BgraStylizerDeprocess() {
  RegisterSchema("BRGNCHWCToPackedInt8BGRAStylizerDeprocess", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "output of the net, [N, 3, H, W], float")
      .Input(1, "mean", "mean of each channel, [3]")
      .Output(0, "Y", "image, [N, H, W, 4], uint8: blue, green, red, alpha 255")
      .TensorInferenceFunction(InferBrgnchwcToPackedInt8BgraStylizerDeprocess)
      .SetDoc(
          "Converts the output of a style transfer net to a packed image: X + mean, clamped to "
          "0..255 and truncated to integers.");
  RegisterCpuOperator<BRGNCHWCToPackedInt8BGRAStylizerDeprocessOp<CPUContext>>(
      "BRGNCHWCToPackedInt8BGRAStylizerDeprocess", __FILE__);
  // As in Caffe2, no gradient maker: bytes are not differentiable.
}

}  // namespace caffe2rt
