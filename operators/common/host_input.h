#pragma once
// Small inputs that an operator reads on the host before it knows what to enqueue: a shape, bounds,
// factors.

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// A member of the operator, one for each such input; keeps the copy from run to run.
class HostInput {
 public:
  // Input `i` in memory of the CPU. An operator of a device takes it from the CPU or from its own
  // device, and waits for the device in both cases: its work may be what writes the input. Valid
  // until the next call.
  template <class Context>
  const Tensor& Read(Operator<Context>& op, int i) {
    if constexpr (Context::GetDeviceType() == CPU) {
      return op.Input(i);
    } else {
      Context& context = *op.getContext();
      const Tensor& tensor = op.OperatorBase::template Input<Tensor>(i);
      if (tensor.GetDeviceType() == CPU) {
        context.FinishDeviceComputation();
        return tensor;
      }
      const Tensor& source = op.Input(i);  // THROWS when it is on a third device
      copy_.Resize(source.sizes());
      void* const copy = copy_.raw_mutable_data(source.dtype());
      context.CopyItemsToCPU(source.dtype(), static_cast<size_t>(source.numel()), source.raw_data(),
                             copy);
      context.FinishDeviceComputation();
      return copy_;
    }
  }

 private:
  Tensor copy_{CPU};
};

}  // namespace caffe2rt
