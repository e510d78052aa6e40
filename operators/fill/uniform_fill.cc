#include "operators/fill/uniform_fill.h"

#include <algorithm>
#include <climits>
#include <set>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

template <class T, TensorProto_DataType kType>
void RegisterUniform(const std::string& type, const char* doc) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  DeclareFillShape(schema);
  schema.NumInputs(0, INT_MAX)
      .NumInputs(std::set<int>{0, 1, 3})
      .Args(kUniformMin<T>, kUniformMax<T>)
      .Input(1, "min", "(optional) one element: the least value")
      .Input(2, "max", "(optional) one element: the greatest value")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, kType)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc(doc);
  for (const int bound : {1, 2}) schema.TypesOfInput(bound, {.accepted = {kType}});
  RegisterCpuOperator<UniformFillOp<T, CPUContext>>(type, __FILE__);
}

constexpr RepeatedArgumentSpec<int64_t> kFloat16FillShape{"shape", "dimensions of the output"};

class Float16UniformFillOp final : public Filler<CPUContext> {
 public:
  Float16UniformFillOp(const OperatorDef& def, Workspace* ws)
      : Filler<CPUContext>(def, ws),
        min_(ReadArgument(kUniformMin<float>)),
        max_(ReadArgument(kUniformMax<float>)) {
    CAFFE_ENFORCE_LT(min_, max_, "argument min, want less than argument max");
  }

 private:
  void Fill(Tensor* output) override {
    floats_.resize(static_cast<size_t>(output->numel()));
    FillUniform(context_, &draws_, output->numel(), min_, max_, floats_.data());
    std::copy(floats_.begin(), floats_.end(), output->mutable_data<float16>());
  }

  const float min_, max_;
  std::vector<float> floats_;
  uint64_t draws_ = 0;
};

void RegisterFloat16Uniform() {
  RegisterSchema("Float16UniformFill", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kFloat16FillShape)
      .Args(kUniformMin<float>, kUniformMax<float>)
      .Output(0, "output", "float16: the numbers")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT16)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc("Draws floats uniformly from [min, max) and rounds them to float16.");
  RegisterCpuOperator<Float16UniformFillOp>("Float16UniformFill", __FILE__);
}

}  // namespace

void RegisterUniformFill() {
  RegisterUniform<float, TensorProto_DataType_FLOAT>("UniformFill",
                                                     "Draws floats uniformly from [min, max).");
  RegisterUniform<int32_t, TensorProto_DataType_INT32>(
      "UniformIntFill", "Draws int32 uniformly from min to max, both included.");
  RegisterFloat16Uniform();
  // The outputs are random.
  for (const char* type : {"UniformFill", "UniformIntFill", "Float16UniformFill"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace caffe2rt
