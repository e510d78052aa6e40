#include <climits>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class AllgatherOp final : public CollectiveOp {
 public:
  using CollectiveOp::CollectiveOp;

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int devices = InputSize() - 1;
    const Tensor& first = Input(1);
    for (int i = 1; i < devices; ++i) {
      const Tensor& other = Input(i + 1);
      CAFFE_ENFORCE(other.dtype() == first.dtype() && other.numel() == first.numel(), "input ",
                    i + 1, " has ", other.numel(), " elements of type ", other.dtype().name(),
                    ", want ", first.numel(), " of type ", first.dtype().name(), ", as input 1");
    }
    const int64_t own = CheckedMultiply(first.numel(), static_cast<int64_t>(devices));
    dims_.assign(1, CheckedMultiply(own, static_cast<int64_t>(world->size())));
    Tensor* const y = Output(0, dims_, first.dtype());
    const void* in = first.raw_data();
    if (devices > 1) in = Join(devices);
    world->Allgather(Call(), in, y->raw_mutable_data(), static_cast<size_t>(own), first.dtype());
  }

  // The tensors of this rank, one after another.
  const void* Join(int devices) {
    const Tensor& first = Input(1);
    joined_.Resize(std::vector<int64_t>{first.numel() * devices});
    char* const to = static_cast<char*>(joined_.raw_mutable_data(first.dtype()));
    for (int i = 0; i < devices && first.numel() > 0; ++i) {
      std::memcpy(to + static_cast<size_t>(i) * first.nbytes(), Input(i + 1).raw_data(),
                  first.nbytes());
    }
    return to;
  }

  std::vector<int64_t> dims_;
  Tensor joined_{CPU};
};

}  // namespace

void RegisterAllgather() {
  CollectiveSchema("Allgather", __FILE__)
      .NumInputs(2, INT_MAX)
      .NumOutputs(1)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .Input(1, "X_0, X_1, ...", "tensors of one type and size")
      .Output(0, "Y",
              "[ranks * inputs * elements]: the elements of all tensors of rank 0, then those of "
              "rank 1, ...")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Collects tensors of all ranks, on each of them.");
  RegisterCpuOperator<AllgatherOp>("Allgather", __FILE__);
}

}  // namespace caffe2rt
