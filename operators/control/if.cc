#include "operators/control/if.h"

#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/control/gradients.h"

namespace caffe2rt {

namespace {

// The shapes of the outputs depend on the nets.
std::vector<TensorShape> InferIf(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (AreKnown(in, 1)) CAFFE_ENFORCE_EQ(NumElements(in[0]), 1, "elements of input 0 (condition)");
  return UnknownOutputs(def);
}

}  // namespace

void RegisterIf() {
  OpSchema& schema = RegisterSchema("If", __FILE__);
  DeclareNet(schema, kIfThenNet);
  DeclareNet(schema, kIfElseNet)
      .NumInputs(1, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AllowInplace([](int, int) { return true; })
      .Input(0, "condition", "one bool, on the CPU or the operator's device")
      .Input(1, "X1, X2, ...", "the blobs that the nets read")
      .Output(0, "Y1, Y2, ...", "the blobs that the nets write")
      .TensorInferenceFunction(InferIf)
      .TypesOfInput(0, {.accepted = {TensorProto::BOOL}})
      .Traits({.nested_scope = NestedScope::kShared})
      .SetDoc("Runs then_net if the condition is true, else else_net.");
  RegisterCpuOperator<IfOp<CPUContext>>("If", __FILE__);
  RegisterNetGradient<GetIfGradient>("If", __FILE__);
}

}  // namespace caffe2rt
