#pragma once
// An operator of 2017 with a kernel: Tensor is a template over the context.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

template <typename T, class Context>
class TemplatedShiftOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TemplatedShiftOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        shift_(OperatorBase::GetSingleArgument<float>("shift", 0.)) {}
  bool RunOnDevice() override;

 protected:
  float shift_;
  Tensor<Context> buffer_;
  Tensor<CPUContext> host_;
};

}  // namespace caffe2
