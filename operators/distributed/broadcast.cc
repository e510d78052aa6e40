#include <cstring>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class BroadcastOp final : public CollectiveOp {
 public:
  BroadcastOp(const OperatorDef& def, Workspace* ws)
      : CollectiveOp(def, ws), root_(this->ReadArgument(kCollectiveRoot)) {}

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int devices = InputSize() - 1;
    Tensor* const first = FirstInPlace(devices);
    void* const data = first->raw_mutable_data();
    world->Broadcast(Call(), data, static_cast<size_t>(first->numel()), first->dtype(), root_);
    for (int i = 1; i < devices && first->numel() > 0; ++i) {
      std::memcpy(InPlace(i)->raw_mutable_data(), data, first->nbytes());
    }
  }

  const int root_;
};

}  // namespace

void RegisterBroadcast() {
  InPlaceCollectiveSchema("Broadcast", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in - 1; })
      .EnforceInplace([](int in, int out) { return in == out + 1; })
      .Arg(kCollectiveRoot)
      .SetDoc("Copies the first tensor of the root to all tensors of all ranks.");
  RegisterCpuOperator<BroadcastOp>("Broadcast", __FILE__);
}

}  // namespace caffe2rt
