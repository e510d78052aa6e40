#pragma once
// Shape: the dimensions of X, or those that the argument axes selects  ->  int64 vector

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/shape/write_numbers_kernels.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kShapeAxes{
    "axes", "dimensions to return, in this order; default: all"};

template <class Context>
class ShapeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ShapeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axes_(this->ReadArgument(kShapeAxes)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (axes_.empty()) {
      WriteNumbers(context_, X.sizes(), this->template OutputData<int64_t>(0, {X.dim()}));
      return true;
    }
    picked_.clear();
    for (const int axis : axes_) {
      CAFFE_ENFORCE(axis >= 0 && axis < X.dim(), "element of argument axes is ", axis,
                    ", want at least 0 and below the rank of input 0 of shape ", X.sizes());
      picked_.push_back(X.dim(axis));
    }
    const int64_t count = static_cast<int64_t>(axes_.size());
    WriteNumbers(context_, picked_, this->template OutputData<int64_t>(0, {count}));
    return true;
  }

 private:
  const std::vector<int> axes_;
  std::vector<int64_t> picked_;
};

}  // namespace caffe2rt
