// Int8Dequantize: the numbers that the elements of a quantized tensor stand for.

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void DequantizeInt8(const uint8_t* x, int64_t n, float scale, int32_t zero_point,
                                  float* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = scale * static_cast<float>(math::WrappingSubtract<int32_t>(x[i], zero_point));
}

class Int8DequantizeOp final : public Int8Operator {
 public:
  Int8DequantizeOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny) {}

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "qX");
    float* y = OutputData<float>(0, x.tensor->sizes());
    DequantizeInt8(x.data(), x.tensor->numel(), x.quantization.scale, x.quantization.zero_point, y);
    return true;
  }
};

std::vector<TensorShape> InferInt8Dequantize(const OperatorDef&,
                                             const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return {UnknownShape()};
  return {CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_FLOAT)};
}

}  // namespace

void RegisterInt8Dequantize() {
  RegisterInt8Schema("Int8Dequantize", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kInt8UnusedOrder)
      .Input(0, "qX", "a quantized tensor")
      .Output(0, "Y", "float, the shape of qX")
      .TensorInferenceFunction(InferInt8Dequantize)
      .SetDoc("Converts a quantized tensor to float: scale * (stored - zero point).");
  RegisterCpuOperator<Int8DequantizeOp>("Int8Dequantize", __FILE__);
}

}  // namespace caffe2rt
