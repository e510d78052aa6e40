#include "operators/control/do.h"

#include <atomic>

#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/control/gradients.h"

namespace caffe2rt {

uint64_t NextDoOperatorId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void RegisterDo() {
  OpSchema& schema = RegisterSchema("Do", __FILE__);
  DeclareNet(schema, kDoNet)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .AllowInplace([](int, int) { return true; })
      .Args(kDoInnerBlobs, kDoOuterBlobsIdx, kDoCopyExternalBlobs, kDoReuseWorkspace,
            kDoSavedFwdBlobs)
      .Input(0, "X1, X2, ..., scope", "the blobs to bind, and the scope made by CreateScope")
      .Output(0, "Y1, Y2, ..., scope", "the blobs to bind, and the scope again")
      .Traits({.nested_scope = NestedScope::kBound})
      .SetDoc("Runs a net in a workspace of its own, which the scope keeps for the gradient.");
  RegisterCpuOperator<DoOp<CPUContext>>("Do", __FILE__);
  RegisterNetGradient<GetDoGradient>("Do", __FILE__);
}

}  // namespace caffe2rt
