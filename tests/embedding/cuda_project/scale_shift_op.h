#pragma once

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

template <typename T, class Context>
class ScaleShiftOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ScaleShiftOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        scale_(OperatorBase::GetSingleArgument<float>("scale", 1.)),
        shift_(OperatorBase::GetSingleArgument<float>("shift", 0.)) {}
  ~ScaleShiftOp() {}

  bool RunOnDevice() override {
    // Specialized for each device, in the .cc and the .cu.
    CAFFE_NOT_IMPLEMENTED;
  }

 protected:
  float scale_;
  float shift_;
};

}  // namespace caffe2
