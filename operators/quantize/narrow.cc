// ONNXNarrow: rounds to numbers of 8 bits and less. Tensors hold them as float, int8 or uint8.
//   X float  ->  Y float; int8 for the formats int4 and int2, uint8 for uint4 and uint2

#include <cstdint>
#include <string>

#include "caffe2_core/base/narrow_number.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kNarrowFormat{
    .name = "format",
    .doc =
        "float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, float4e2m1, int4, "
        "uint4, int2 or uint2",
    .check = {[](const std::string& name) { return NarrowFormatOfName(name).has_value(); },
              "the name of a format"},
    .required = true};
constexpr ArgumentSpec<bool> kNarrowSaturate{"saturate", true,
                                             "whether numbers that are out of range become the "
                                             "largest one, or else infinity or NaN; integers keep "
                                             "their lowest bits"};
constexpr ArgumentSpec<std::string> kNarrowRounding{
    "round_mode",
    "up",
    "of float8e8m0: up, down or nearest",
    {[](const std::string& mode) { return mode == "up" || mode == "down" || mode == "nearest"; },
     "up, down or nearest"}};

NarrowRounding RoundingOf(const std::string& mode) {
  return mode == "up"     ? NarrowRounding::kUp
         : mode == "down" ? NarrowRounding::kDown
                          : NarrowRounding::kNearest;
}

class NarrowOp final : public Operator<CPUContext> {
 public:
  NarrowOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        format_(*NarrowFormatOfName(ReadArgument(kNarrowFormat))),
        saturate_(ReadArgument(kNarrowSaturate)),
        rounding_(RoundingOf(ReadArgument(kNarrowRounding))) {}

  bool RunOnDevice() override {
    RequireElements<float>(Input(0));
    if (!IsNarrowInteger(format_)) return Run<float>();
    return IsNarrowSigned(format_) ? Run<int8_t>() : Run<uint8_t>();
  }

 private:
  template <class Y>
  bool Run() {
    const Tensor& X = Input(0);
    Y* y = OutputData<Y>(0, X.sizes());
    const float* x = X.data<float>();
    ParallelElements(X.numel(), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const uint8_t bits = FloatToNarrow(format_, x[i], saturate_, rounding_);
        y[i] = static_cast<Y>(NarrowToFloat(format_, bits));
      }
    });
    return true;
  }

  const NarrowFormat format_;
  const bool saturate_;
  const NarrowRounding rounding_;
};

std::vector<TensorShape> InferNarrow(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const NarrowFormat format = *NarrowFormatOfName(ArgumentHelper(def).Read(kNarrowFormat));
  const TensorProto_DataType type = !IsNarrowInteger(format) ? TensorProto_DataType_FLOAT
                                    : IsNarrowSigned(format) ? TensorProto_DataType_INT8
                                                             : TensorProto_DataType_UINT8;
  return {CreateTensorShape(GetDimsVector(in[0]), type)};
}

}  // namespace

void RegisterNarrow() {
  RegisterSchema("ONNXNarrow", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kNarrowFormat, kNarrowSaturate, kNarrowRounding)
      .Input(0, "X", "float, any shape")
      .Output(0, "Y", "the shape of X: float, of integers int8 or uint8")
      .TensorInferenceFunction(InferNarrow)
      .CostInferenceFunction(PointwiseCostInference<20>)
      .Traits({.family = OperatorFamily::kElementwise, .same_shape = true})
      .SetDoc(
          "Rounds to the numbers of a format of 8 bits or less, to nearest, ties to even, as "
          "ONNX's Cast "
          "does. Integers drop the fraction. Tensors have no such element types: Y holds the "
          "numbers.");
  RegisterCpuOperator<NarrowOp>("ONNXNarrow", __FILE__);
  // The output is piecewise constant.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXNarrow", __FILE__);
}

}  // namespace caffe2rt
