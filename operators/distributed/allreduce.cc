#include <cstring>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"
#include "operators/distributed/element_sum.h"

namespace caffe2rt {
namespace {

class AllreduceOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int devices = InputSize() - 1;
    Tensor* const first = FirstInPlace(devices);
    void* const sum = first->raw_mutable_data();
    const auto count = static_cast<size_t>(first->numel());
    for (int i = 1; i < devices; ++i) {
      ElementSumOf(first->dtype()).add(sum, sum, Input(i + 1).raw_data(), count);
    }
    world->Allreduce(Call(), sum, count, first->dtype());
    for (int i = 1; i < devices && count > 0; ++i) {
      std::memcpy(InPlace(i)->raw_mutable_data(), sum, first->nbytes());
    }
  }
};

}  // namespace

void RegisterAllreduce() {
  InPlaceCollectiveSchema("Allreduce", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in - 1; })
      .EnforceInplace([](int in, int out) { return in == out + 1; })
      .Arg(kCollectiveGpuDirect)
      .SetDoc(
          "Replaces each tensor by the sum of the tensors of all ranks. Several tensors, one for "
          "each device, are "
          "added first, in their order. All ranks get the same bytes, in every run.");
  RegisterCpuOperator<AllreduceOp>("Allreduce", __FILE__);
}

}  // namespace caffe2rt
