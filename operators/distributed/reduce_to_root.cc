// Reduce
#include <cstring>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class ReduceOp final : public CollectiveOp {
 public:
  ReduceOp(const OperatorDef& def, Workspace* ws)
      : CollectiveOp(def, ws), root_(this->ReadArgument(kCollectiveRoot)) {}

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const Tensor& x = Input(1);
    Tensor* const y = Output(0, x.sizes(), x.dtype());
    if (x.numel() > 0) std::memcpy(y->raw_mutable_data(), x.raw_data(), x.nbytes());
    world->Reduce(Call(), y->raw_mutable_data(), static_cast<size_t>(x.numel()), x.dtype(), root_);
  }

  const int root_;
};

}  // namespace

void RegisterReduceToRoot() {
  CollectiveSchema("Reduce", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .Input(1, "X", "a tensor")
      .Output(0, "Y",
              "on the root, the sum of X over all ranks; on others a tensor of the shape of X "
              "whose values are "
              "not specified")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .IdenticalTypeAndShapeOfInput(1)
      .Arg(kCollectiveRoot)
      .SetDoc("Computes the sum of a tensor over all ranks, on one of them.");
  RegisterCpuOperator<ReduceOp>("Reduce", __FILE__);
}

}  // namespace caffe2rt
