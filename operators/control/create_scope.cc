// CreateScope, HasScope: the workspaces in which Do operators run (workspace_stack.h).

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/control/workspace_stack.h"

namespace caffe2rt {
namespace {

class CreateScopeOp final : public Operator<CPUContext> {
 public:
  CreateScopeOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    OperatorBase::Output<WorkspaceStack>(0)->Clear();
    return true;
  }
};

class HasScopeOp final : public Operator<CPUContext> {
 public:
  HasScopeOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const bool has_scope = !OperatorBase::Input<WorkspaceStack>(0).empty();
    *OutputData<bool>(0, {1}) = has_scope;
    return true;
  }
};

}  // namespace

void RegisterCreateScope() {
  DeclareBlobHolder<WorkspaceStack>(
      [](const WorkspaceStack& stack, const BlobVisitor& visit) { stack.VisitOwnBlobs(visit); });
  RegisterSchema("CreateScope", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "scope", "an empty stack of workspaces")
      .SetDoc(
          "Creates a stack of workspaces for Do, or empties the one in the output. The "
          "workspaces of an emptied stack are used again.");
  RegisterCpuOperator<CreateScopeOp>("CreateScope", __FILE__);
  // The output is not a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CreateScope", __FILE__);

  RegisterSchema("HasScope", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "scope", "a stack of workspaces")
      .Output(0, "has_scope", "bool [1]")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{1}, TensorProto::BOOL)};
      })
      .SetDoc(
          "Checks whether a stack of workspaces holds at least one. It is the condition of the "
          "loop in the gradient of While.");
  RegisterCpuOperator<HasScopeOp>("HasScope", __FILE__);
  // The input is not a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("HasScope", __FILE__);
}

}  // namespace caffe2rt
