#include "operators/elementwise/nary.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

void RegisterNarySchema(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X0, X1, ...", "one or more tensors of the same shape and type")
      .Output(0, "Y", "the shape of X0")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        OpSchema::Cost cost;
        if (!AreKnown(in, 1)) return cost;
        cost = MoveCost(in, {in[0]});
        cost.flops = NumElements(in[0]) * in.size();
        return cost;
      })
      .SetDoc(doc);
}

}  // namespace

void RegisterNary() {
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    RegisterNarySchema(row.type, row.doc);
    RegisterCpuOperator<NaryOp<CPUContext, kKind, Ts...>>(row.type, __FILE__);
  });
}

}  // namespace caffe2rt
