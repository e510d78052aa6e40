#pragma once
// EnsureDense: copies its input, of rank 1 or more. Its gradient converts a sparse gradient to a
// dense one.

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

template <class Context>
class EnsureDenseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  EnsureDenseOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0, want at least 1");
    CopyReshaped(context_, X, X.sizes(), Output(0));
    return true;
  }
};

}  // namespace caffe2rt
