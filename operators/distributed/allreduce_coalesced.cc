#include <cstring>
#include <string_view>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"
#include "operators/distributed/control_frame.h"

namespace caffe2rt {
namespace {

// The tensors lie one behind the other in a buffer while the ranks add them. Its size is part of the
// signature; the sizes of the tensors are its detail.
class AllreduceCoalescedOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int count = InputSize() - 1;
    const TypeMeta type = Input(1).dtype();
    sizes_.clear();
    size_t total = 0;
    for (int i = 0; i < count; ++i) {
      const Tensor& x = Input(i + 1);
      CAFFE_ENFORCE(x.dtype() == type, "input ", i + 1, " is of type ", x.dtype().name(), ", want ",
                    type.name(), ", the type of input 1");
      sizes_.push_back(x.numel());
      total = CheckedAdd(total, static_cast<size_t>(x.numel()));
    }
    const std::string_view sizes(reinterpret_cast<const char*>(sizes_.data()),
                                 sizes_.size() * sizeof(sizes_[0]));
    CollectiveCall call = Call();
    call.detail = HashOf(sizes);
    buffer_.Resize(std::vector<int64_t>{static_cast<int64_t>(total)});
    char* const sums = static_cast<char*>(buffer_.raw_mutable_data(type));
    Copy(sums, true);
    world->Allreduce(call, sums, total, type);
    Copy(sums, false);
  }

  // Copies the tensors into the buffer, or back.
  void Copy(char* sums, bool into_buffer) {
    for (int i = 0; i < InputSize() - 1; ++i) {
      Tensor* const x = InPlace(i);
      const size_t bytes = x->nbytes();
      if (bytes == 0) continue;
      if (into_buffer) {
        std::memcpy(sums, x->raw_data(), bytes);
      } else {
        std::memcpy(x->raw_mutable_data(), sums, bytes);
      }
      sums += bytes;
    }
  }

  std::vector<int64_t> sizes_;
  Tensor buffer_{CPU};
};

}  // namespace

void RegisterAllreduceCoalesced() {
  InPlaceCollectiveSchema("AllreduceCoalesced", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in - 1; })
      .EnforceInplace([](int in, int out) { return in == out + 1; })
      .SetDoc(
          "Replaces each tensor by its sum over all ranks, as one Allreduce for each would, but "
          "with one exchange for "
          "all of them: small tensors take as long as one. The tensors must have the same type; "
          "they are copied into "
          "a buffer and back. With three ranks or more, the sums may differ from those of "
          "Allreduce in their last "
          "bits, because the order of the ranks depends on the place in the buffer.");
  RegisterCpuOperator<AllreduceCoalescedOp>("AllreduceCoalesced", __FILE__);
}

}  // namespace caffe2rt
