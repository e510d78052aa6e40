#pragma once

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

// The output has n numbers: zeros in the first half, i * step in the second half. Finally the last
// number is copied to the front.
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
