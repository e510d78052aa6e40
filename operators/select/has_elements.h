#pragma once
// HasElements: whether at least one of the inputs has an element  ->  bool scalar

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class HasElementsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  HasElementsOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    bool found = false;
    for (int i = 0; i < InputSize(); ++i) found = found || Input(i).numel() > 0;
    *this->template OutputData<bool>(0, {}) = found;
    return true;
  }
};

}  // namespace caffe2rt
