#pragma once
// IsEmpty: whether a tensor has no elements  ->  bool scalar

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class IsEmptyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  IsEmptyOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const bool empty = Input(0).numel() == 0;
    *this->template OutputData<bool>(0, {}) = empty;
    return true;
  }
};

}  // namespace caffe2rt
