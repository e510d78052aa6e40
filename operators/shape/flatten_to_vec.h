#pragma once
// FlattenToVec: X of rank 1 or more  ->  [number of elements]

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

template <class Context>
class FlattenToVecOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  FlattenToVecOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0, want at least 1");
    const int64_t size = X.numel();
    CopyReshaped(context_, X, IntArrayRef(size), Output(0));
    return true;
  }
};

}  // namespace caffe2rt
