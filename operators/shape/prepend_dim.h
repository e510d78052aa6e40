#pragma once
// PrependDim: X [N, *]  ->  [dim_size, N / dim_size, *]

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

// THROWS when dim 0 does not divide by `dim_size`, which must be positive.
void PrependedDims(IntArrayRef input, int64_t dim_size, std::vector<int64_t>* dims);

template <class Context>
class PrependDimOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PrependDimOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        dim_size_(this->template GetSingleArgument<int64_t>("dim_size", 0)) {
    CAFFE_ENFORCE_GT(dim_size_, 0, "argument dim_size");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    PrependedDims(X.sizes(), dim_size_, &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  const int64_t dim_size_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
