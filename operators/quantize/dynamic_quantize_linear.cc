// DynamicQuantizeLinear: quantizes X to uint8 with the scale and zero point of its range.
//   X float  ->  Y uint8 of the shape of X, scale float [], zero point uint8 []

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void FindRange(int64_t n, const float* x, float* range) {
  float low = 0, high = 0;  // 0 belongs to the range; NaN is ignored
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  range[0] = low;
  range[1] = high;
}

CAFFE2RT_SIMD_FMA void QuantizeBytes(int64_t n, const float* x, float scale, float zero,
                                     uint8_t* y) {
  for (int64_t i = 0; i < n; ++i) {
    float value = std::nearbyint(x[i] / scale) + zero;
    value = value >= 0.f ? value : 0.f;
    value = value <= 255.f ? value : 255.f;
    y[i] = static_cast<uint8_t>(static_cast<int32_t>(value));
  }
}

class DynamicQuantizeLinearOp final : public Operator<CPUContext> {
 public:
  DynamicQuantizeLinearOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    RequireElements<float>(X);
    uint8_t* y = OutputData<uint8_t>(0, X.sizes());
    float* scale = OutputData<float>(1, {});
    uint8_t* zero_point = OutputData<uint8_t>(2, {});
    const int64_t n = X.numel();
    const float* x = n > 0 ? X.data<float>() : nullptr;
    float range[2] = {0, 0};
    FindRange(n, x, range);
    CAFFE_ENFORCE(std::isfinite(range[1] - range[0]), "input 0 (X) has elements from ", range[0],
                  " to ", range[1], ", want a finite range");
    *scale = (range[0] == range[1] ? 1.f : range[1] - range[0]) / 255.f;
    // The smallest numbers underflow: the scale of their range would be 0.
    if (*scale == 0.f) *scale = 1.f / 255.f;
    const float zero = std::clamp(std::nearbyint(-range[0] / *scale), 0.f, 255.f);
    *zero_point = static_cast<uint8_t>(zero);
    ParallelElements(n, [&](int64_t first, int64_t last) {
      QuantizeBytes(last - first, x + first, *scale, zero, y + first);
    });
    return true;
  }
};

}  // namespace

void RegisterDynamicQuantizeLinear() {
  RegisterSchema("DynamicQuantizeLinear", __FILE__)
      .NumInputs(1)
      .NumOutputs(3)
      .Input(0, "X", "float, any shape")
      .Output(0, "Y", "uint8, the shape of X")
      .Output(1, "scale", "float, a scalar: the range of X, which includes 0, over 255")
      .Output(2, "zero_point", "uint8, a scalar: the byte that stands for 0")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_UINT8),
            CreateTensorShape(std::vector<int64_t>{}, TensorProto_DataType_FLOAT),
            CreateTensorShape(std::vector<int64_t>{}, TensorProto_DataType_UINT8)};
      })
      .CostInferenceFunction(PointwiseCostInference<5>)
      .FloatInputs(1)
      .Traits({.family = OperatorFamily::kElementwise, .same_shape = true})
      .SetDoc(
          "Quantizes as ONNX does, with the scale and the zero point of the range of X: Y = "
          "round(X / "
          "scale) + zero_point, limited to 0 to 255.");
  RegisterCpuOperator<DynamicQuantizeLinearOp>("DynamicQuantizeLinear", __FILE__);
  // The output is piecewise constant.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("DynamicQuantizeLinear", __FILE__);
}

}  // namespace caffe2rt
