#pragma once
// MergeDim: X [A, B, *]  ->  [A * B, *]

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the rank is below 2.
void MergedDims(IntArrayRef input, std::vector<int64_t>* dims);
#pragma GCC visibility pop

template <class Context>
class MergeDimOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MergeDimOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    MergedDims(X.sizes(), &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
