#include "operators/elementwise/nary.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

template <NaryKind kKind, class First, class... Rest>
void RegisterNaryOperator(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X0, X1, ...", "one or more tensors of one shape and type")
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
  RegisterCpuOperator<NaryOp<CPUContext, kKind, First, Rest...>>(type, __FILE__);
}

}  // namespace

void RegisterNary() {
  RegisterNaryOperator<NaryKind::kSum, float, double, int32_t, int64_t>(
      "Sum", "Y = X0 + X1 + ..., without broadcasting.");
  RegisterNaryOperator<NaryKind::kMean, float, double>("Mean", "Y = the mean of X0, X1, ....");
  RegisterNaryOperator<NaryKind::kMax, float>("Max", "Y = the largest of X0, X1, ....");
  RegisterNaryOperator<NaryKind::kMin, float>("Min", "Y = the smallest of X0, X1, ....");
}

}  // namespace caffe2rt
