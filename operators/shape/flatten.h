#pragma once
// Flatten: X  ->  [product of the dimensions before axis, product of the others]

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kFlattenAxis{
    "axis", 1, "first dimension that belongs to the columns, 0 to rank"};

// THROWS if `axis` is not between 0 and the rank.
inline void FlattenedDims(IntArrayRef input, int axis, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE(axis >= 0 && static_cast<size_t>(axis) <= input.size(), "argument axis is ", axis,
                ", want 0 to the rank of input 0 of shape ", input);
  const size_t split = static_cast<size_t>(axis);
  dims->assign({CheckedProduct(input.slice(0, split)), CheckedProduct(input.slice(split))});
}

template <class Context>
class FlattenOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  FlattenOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kFlattenAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    FlattenedDims(X.sizes(), axis_, &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  const int axis_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
