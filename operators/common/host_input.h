#pragma once
// Inputs whose values the host must know before it can enqueue work, such as shapes, bounds and
// counts.
//
//   HostInput shape_input_;                              // a member
//   const Tensor& shape = shape_input_.Read(*this, 0);   // on the CPU
//
// Such an input may be on the CPU, as in Caffe2, or on the operator's device.

#include <cstdint>
#include <memory>
#include <vector>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Reads one such input. Keeps its copy of the input between runs.
class HostInput {
 public:
  // Returns input `i` in CPU memory. On a device this waits for the operator's stream even if the
  // input is on the CPU, because enqueued work may write it. It does not copy or wait if the input
  // has not been written since the last call, so nets whose shapes are constant do not wait. The
  // result is valid until the next call.
  template <class Context>
  const Tensor& Read(Operator<Context>& op, int i) {
    if constexpr (Context::GetDeviceType() == CPU) {
      return op.Input(i);
    } else {
      Context& context = *op.getContext();
      const bool is_on_host = op.InputIsTensorType(i, CPU);
      const Tensor& tensor = is_on_host ? op.Input(i, CPU) : op.Input(i);
      if (!IsRead(tensor)) {
        if (!is_on_host) copy_.CopyFrom(tensor, &context);
        context.FinishDeviceComputation();
        Remember(tensor);
      }
      return is_on_host ? tensor : copy_;
    }
  }

 private:
  bool IsRead(const Tensor& tensor) const {
    return read_ != nullptr && tensor.storage() == read_ && read_->version() == version_ &&
           !read_->exposed() && tensor.dims() == dims_ && tensor.dtype() == type_;
  }
  void Remember(const Tensor& tensor) {
    read_ = tensor.storage();
    if (read_ == nullptr) return;
    version_ = read_->version();
    dims_ = tensor.dims();
    type_ = tensor.dtype();
  }

  Tensor copy_{CPU};
  // The storage that was read last. Shared, so that no other storage can get its address.
  std::shared_ptr<Storage> read_;
  uint64_t version_ = 0;
  std::vector<int64_t> dims_;
  TypeMeta type_;
};

// Returns input `i` on whichever device it is, for callers that only inspect its shape or copy it.
template <class Context>
const Tensor& InputAnywhere(const Operator<Context>& op, int i) {
  return op.InputIsTensorType(i, CPU) ? op.Input(i, CPU) : op.Input(i);
}

}  // namespace caffe2rt
