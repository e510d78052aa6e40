#include <cstring>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"
#include "operators/distributed/element_sum.h"

namespace caffe2rt {
namespace {

class ReduceScatterOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int devices = InputSize() - 2;
    Tensor* const first = FirstInPlace(devices);
    const Tensor& counts = Input(InputSize() - 1);
    const int* const numbers = counts.data<int>();
    int64_t total = 0;
    for (int64_t i = 0; i < counts.numel(); ++i) total += numbers[i];
    CAFFE_ENFORCE_EQ(total, first->numel(),
                     "sum of the last input (counts), want the elements of input 1");
    void* const sum = first->raw_mutable_data();
    const auto count = static_cast<size_t>(first->numel());
    for (int i = 1; i < devices; ++i) {
      ElementSumOf(first->dtype()).add(sum, sum, Input(i + 1).raw_data(), count);
    }
    world->ReduceScatter(Call(), sum, {numbers, static_cast<size_t>(counts.numel())},
                         first->dtype());
    for (int i = 1; i < devices && count > 0; ++i) {
      std::memcpy(InPlace(i)->raw_mutable_data(), sum, first->nbytes());
    }
  }
};

}  // namespace

void RegisterReduceScatter() {
  InPlaceCollectiveSchema("ReduceScatter", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in >= 3 && (out == in - 1 || out == in - 2); })
      .EnforceInplace([](int in, int out) { return in == out + 1; })
      .Input(2, "..., counts",
             "the last input, int32 [ranks]: how many elements of the sum each rank gets")
      .SetDoc(
          "Adds tensors of all ranks. The first counts[r] elements of the tensors of rank r become "
          "its part of the sum, "
          "which comes after those of the lower ranks; the other elements are not specified.");
  RegisterCpuOperator<ReduceScatterOp>("ReduceScatter", __FILE__);
}

}  // namespace caffe2rt
