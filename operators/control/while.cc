#include "operators/control/while.h"

#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/control/gradients.h"

namespace caffe2rt {

void RegisterWhile() {
  OpSchema& schema = RegisterSchema("While", __FILE__);
  DeclareNet(schema, kWhileLoopNet);
  DeclareNet(schema, kWhileCondNet)
      .NumInputs(1, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AllowInplace([](int, int) { return true; })
      .Input(0, "condition", "one bool, on the CPU or the operator's device")
      .Input(1, "X1, X2, ...", "the blobs that the nets read")
      .Output(0, "Y1, Y2, ...", "the blobs that the nets write")
      .Traits({.nested_scope = NestedScope::kShared})
      .SetDoc(
          "Runs loop_net as long as the condition is true. If there is a cond_net, it runs "
          "before each test of the condition. One of the nets must write the condition.");
  RegisterCpuOperator<WhileOp<CPUContext>>("While", __FILE__);
  RegisterNetGradient<GetWhileGradient>("While", __FILE__);
}

}  // namespace caffe2rt
