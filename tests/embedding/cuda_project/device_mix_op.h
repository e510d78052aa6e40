#pragma once

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

// n numbers: zeros, from the middle on i * step, and the last of them again at the front.
template <class Context>
class DeviceMixOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DeviceMixOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        OP_SINGLE_ARG(int, "n", n_, 6),
        OP_SINGLE_ARG(float, "step", step_, 0.5f) {}
  bool RunOnDevice() override;

 protected:
  int n_;
  float step_;
};

}  // namespace caffe2

