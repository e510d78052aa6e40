#pragma once
// The condition of If and While: input 0, one bool.

#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

// Reads the condition on the host. It may be on the CPU or on the operator's device.
template <class Context>
class ConditionInput {
 public:
  // THROWS unless the input is a tensor of one element.
  static void CheckSize(const Operator<Context>& op) {
    const Tensor& tensor = InputAnywhere(op, 0);
    CAFFE_ENFORCE(tensor.IsShaped() && tensor.numel() == 1, "input 0 (condition) has shape ",
                  tensor.sizes(), ", want one element");
  }
  // THROWS unless the input is a tensor of one bool.
  bool Read(Operator<Context>& op) {
    CheckSize(op);
    const Tensor& tensor = input_.Read(op, 0);
    CAFFE_ENFORCE(tensor.template IsType<bool>(), "input 0 (condition) has elements of type ",
                  tensor.dtype().name(), ", want bool");
    return *tensor.template data<bool>();
  }

 private:
  HostInput input_;
};

}  // namespace caffe2rt
