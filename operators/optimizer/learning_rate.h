#pragma once
// LearningRate: the learning rate of an iteration, by a policy (learning_rate_policy.h).
//   iter, int64, on the CPU for every device  ->  lr, float scalar
//
// Only the first element of iter is used. If iter is on a device, it is copied to the CPU.

#include "operators/optimizer/learning_rate_policy.h"
#include "operators/optimizer/update_checks.h"

namespace caffe2rt {

template <class Context>
class LearningRateOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LearningRateOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), policy_(this->args()) {}

  bool RunOnDevice() override {
    const float rate = policy_.At(ReadIteration(*this, 0, &iteration_));
    context_.CopyBytesFromCPU(sizeof(rate), &rate, this->template OutputData<float>(0, {}));
    return true;
  }

 private:
  const LearningRatePolicy policy_;
  HostInput iteration_;
};

}  // namespace caffe2rt
