#pragma once
// Size: the number of elements of X  ->  int64 scalar

#include "caffe2_core/runtime/operator.h"
#include "operators/shape/write_numbers_kernels.h"

namespace caffe2rt {

template <class Context>
class SizeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SizeOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const int64_t size = Input(0).numel();
    WriteNumbers(context_, {&size, 1}, this->template OutputData<int64_t>(0, {}));
    return true;
  }
};

}  // namespace caffe2rt
