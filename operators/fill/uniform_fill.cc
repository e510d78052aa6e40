#include "operators/fill/uniform_fill.h"

#include <climits>
#include <set>

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

}  // namespace

void RegisterUniformFill() {
  RegisterUniform<float, TensorProto_DataType_FLOAT>("UniformFill",
                                                     "Draws floats uniformly from [min, max).");
  RegisterUniform<int32_t, TensorProto_DataType_INT32>(
      "UniformIntFill", "Draws int32 uniformly from min to max, both included.");
  // The outputs are random.
  for (const char* type : {"UniformFill", "UniformIntFill"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace caffe2rt
