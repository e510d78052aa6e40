#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class DestroyCommonWorldOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override { OutputBlob(0)->Reset(); }
};

}  // namespace

void RegisterDestroyCommonWorld() {
  CollectiveSchema("DestroyCommonWorld", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Input(0, "common_world", "a world")
      .Output(0, "common_world", "the empty blob")
      .SetDoc(
          "Removes a world from its blob. With the last of its clones, this process leaves the "
          "group: operators of other "
          "ranks that wait for it fail.");
  RegisterCpuOperator<DestroyCommonWorldOp>("DestroyCommonWorld", __FILE__);
}

}  // namespace caffe2rt
