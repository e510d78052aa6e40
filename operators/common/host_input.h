#pragma once
// Inputs whose values the host must know before it can enqueue work: shapes, bounds, counts.
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

// One for each such input; keeps the copy from run to run.
class HostInput {
 public:
  // Input `i` in memory of the CPU. An operator of a device waits for it, wherever the input is:
  // its work may be what writes the input. It does not when nobody has written the input since the
  // last call, so that nets whose shapes are constants do not wait. Valid until the next call.
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
  std::shared_ptr<Storage> read_;  // what was read last: shared, so that no other takes its address
  uint64_t version_ = 0;
  std::vector<int64_t> dims_;
  TypeMeta type_;
};

// Input `i` wherever it is, for who looks at its shape alone or copies it.
template <class Context>
const Tensor& InputAnywhere(const Operator<Context>& op, int i) {
  return op.InputIsTensorType(i, CPU) ? op.Input(i, CPU) : op.Input(i);
}

}  // namespace caffe2rt
