#pragma once
// PrependDim: X [N, *]  ->  [dim_size, N / dim_size, *]

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int64_t> kPrependedSize{
    "dim_size",
    0,
    "size of the new first dimension; must divide dim 0",
    {[](int64_t size) { return size > 0; }, "above 0"},
    true};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// REQUIRES: dim_size > 0. THROWS if dim 0 is not a multiple of dim_size.
void PrependedDims(IntArrayRef input, int64_t dim_size, std::vector<int64_t>* dims);
#pragma GCC visibility pop

template <class Context>
class PrependDimOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PrependDimOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), dim_size_(this->ReadArgument(kPrependedSize)) {}

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
