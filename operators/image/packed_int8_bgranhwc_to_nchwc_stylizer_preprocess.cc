#include "operators/image/packed_int8_bgranhwc_to_nchwc_stylizer_preprocess.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void UnpackRun(int64_t n, const uint8_t* __restrict x, const float* mean,
                             const float* __restrict blue, const float* __restrict green,
                             const float* __restrict red, float* __restrict y0,
                             float* __restrict y1, float* __restrict y2) {
  const float mean0 = mean[0], mean1 = mean[1], mean2 = mean[2];
  for (int64_t i = 0; i < n; ++i) {
    y0[i] = static_cast<float>(x[4 * i]) - mean0 + blue[i];
    y1[i] = static_cast<float>(x[4 * i + 1]) - mean1 + green[i];
    y2[i] = static_cast<float>(x[4 * i + 2]) - mean2 + red[i];
  }
}

std::vector<TensorShape> InferPackedInt8BgranhwcToNchwcStylizerPreprocess(
    const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE(dims.size() == 4 && dims[3] == 4, "input 0 (X), want shape [N, H, W, 4]");
  if (AreKnown(in, 2)) CAFFE_ENFORCE_EQ(NumElements(in[1]), 3, "elements of input 1 (mean)");
  return {
      CreateTensorShape(std::vector<int64_t>{dims[0], 3, dims[1], dims[2]}, TensorProto::FLOAT)};
}

}  // namespace

void UnpackPixels(CPUContext&, int64_t pixels, const uint8_t* x, const float* mean,
                  const float* noise, int64_t period, float* y) {
  for (int64_t i = 0; i < pixels; i += period) {
    UnpackRun(std::min(period, pixels - i), x + 4 * i, mean, noise, noise + period,
              noise + 2 * period, y + i, y + pixels + i, y + 2 * pixels + i);
  }
}

namespace {

// The noise, and the noise arranged by channel. Each may take a cache line more.
MemoryTraits::Extra NoiseMemory(const OperatorDef& def, const std::vector<TensorShape>&,
                                const std::vector<TensorShape>&) {
  const int64_t size = std::max(ArgumentHelper(def).Read(kNoiseSize), 0);
  const int64_t bytes = 4 * size * static_cast<int64_t>(sizeof(float));
  return {.scratch_bytes = 0, .prepared_bytes = bytes + 2 * 64};
}

}  // namespace

void RegisterPackedInt8BgranhwcToNchwcStylizerPreprocess() {
  constexpr const char* kType = "PackedInt8BGRANHWCToNCHWCStylizerPreprocess";
  RegisterSchema(kType, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kNoiseSize, kNoiseStd)
      .Input(0, "X", "image, [N, H, W, 4], uint8: blue, green, red, alpha")
      .Input(1, "mean", "mean of each channel, [3]")
      .Output(0, "Y", "input of the net, [N, 3, H, W], float")
      .TensorInferenceFunction(InferPackedInt8BgranhwcToNchwcStylizerPreprocess)
      .AccessesUnlistedBlobs([](const OperatorDef&) { return true; })  // the noise blob
      .TypesOfInput(0, {.accepted = {TensorProto::UINT8}})
      .TypesOfInput(1, {.accepted = {TensorProto::FLOAT}})
      .Traits({.input_shape = "uint8 [1, H, W, 4]"})
      .Memory({.extra = NoiseMemory})
      .SetDoc(
          "Converts a packed image to the input of a style transfer net: X - mean + noise. The "
          "noise is the blob __CAFFE2_STYLIZER_NOISE__ of the workspace, which the first such "
          "operator fills.");
  RegisterCpuOperator<PackedInt8BGRANHWCToNCHWCStylizerPreprocessOp<CPUContext>>(kType, __FILE__);
  // As in Caffe2, no gradient maker: bytes are not differentiable.
}

}  // namespace caffe2rt
