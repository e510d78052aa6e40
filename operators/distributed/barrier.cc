#include <climits>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class BarrierOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override { World()->Barrier(Call()); }
};

}  // namespace

void RegisterBarrier() {
  CollectiveSchema("Barrier", __FILE__)
      .NumInputs(1)
      .NumOutputs(0, INT_MAX)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc(
          "Waits until all ranks have started it. Outputs, which only order other operators, are "
          "not changed.");
  RegisterCpuOperator<BarrierOp>("Barrier", __FILE__);
}

}  // namespace caffe2rt
