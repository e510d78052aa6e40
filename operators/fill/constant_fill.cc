#include "operators/fill/constant_fill.h"

#include <algorithm>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

TensorProto_DataType ConstantFillType(const ArgumentHelper& args) {
  if (args.HasArgument(kFillType)) return static_cast<TensorProto_DataType>(args.Read(kFillType));
  constexpr const char* kValue = kFillValue<float>.name;
  if (!args.HasArgument(kValue) || args.HasSingleArgumentOfType<float>(kValue)) {
    return static_cast<TensorProto_DataType>(kFillType.default_value);
  }
  CAFFE_ENFORCE(args.HasSingleArgumentOfType<int64_t>(kValue),
                "argument value is neither a float nor an integer: set its type with dtype");
  return TensorProto_DataType_INT64;
}

namespace {

constexpr RepeatedArgumentSpec<int64_t> kFloat16ConstantFillShape{"shape",
                                                                  "dimensions of the output"};

// Float16ConstantFill: ConstantFill for float16, without an input.
class Float16ConstantFillOp final : public Filler<CPUContext> {
 public:
  Float16ConstantFillOp(const OperatorDef& def, Workspace* ws)
      : Filler<CPUContext>(def, ws), value_(ReadArgument(kFillValue<float>)) {}

 private:
  void Fill(Tensor* output) override {
    std::fill_n(output->mutable_data<float16>(), output->numel(), value_);
  }

  const float16 value_;
};

void RegisterFloat16ConstantFill() {
  RegisterSchema("Float16ConstantFill", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kFillValue<float>, kFloat16ConstantFillShape)
      .Output(0, "output", "float16: the tensor")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT16)};
      })
      .SetDoc("Creates a float16 tensor whose elements all have the same value.");
  RegisterCpuOperator<Float16ConstantFillOp>("Float16ConstantFill", __FILE__);
  // The output depends on no input.
  RegisterGradient<NoGradient>("Float16ConstantFill", __FILE__);
}

}  // namespace

void RegisterConstantFill() {
  RegisterFloat16ConstantFill();
  OpSchema& schema = RegisterSchema("ConstantFill", __FILE__);
  DeclareFillShape(schema);
  DeclareUntyped(schema, kFillValue<float>);
  schema.NumInputs(0, 2)
      .Arg(kFillType)
      .Input(1, "value", "(optional) one element, the value; overrides argument value")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, ConstantFillType(ArgumentHelper(def)))};
      })
      .Traits({.fill = FillForm::kConstant})
      .SetDoc("Creates a tensor whose elements all have the same value.");
  RegisterCpuOperator<ConstantFillOp<CPUContext>>("ConstantFill", __FILE__);
  // The output does not depend on the input's values.
  RegisterGradient<NoGradient>("ConstantFill", __FILE__);
}

}  // namespace caffe2rt
