#pragma once
// Shape: the dimensions of X, or those that the argument axes, or start and end, select  ->  int64 vector

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/shape/write_numbers_kernels.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kShapeAxes{
    "axes", "dimensions to return, in this order; default: all"};

inline constexpr ArgumentSpec<int64_t> kShapeStart{
    "start", 0, "first dimension to return; a negative one counts from the end (ONNX)"};
inline constexpr ArgumentSpec<int64_t> kShapeEnd{
    "end", INT64_MAX,
    "dimension after the last one to return; a negative one counts from the end; default: all "
    "(ONNX)"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The dimensions from start to end, which are moved into the rank.
IntArrayRef DimsBetween(IntArrayRef dims, int64_t start, int64_t end);
#pragma GCC visibility pop

template <class Context>
class ShapeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ShapeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axes_(this->ReadArgument(kShapeAxes)),
        start_(this->ReadArgument(kShapeStart)),
        end_(this->ReadArgument(kShapeEnd)) {
    CAFFE_ENFORCE(axes_.empty() || (!HasArgument(kShapeStart) && !HasArgument(kShapeEnd)),
                  "argument axes is given with start or end: remove one");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (axes_.empty()) {
      const IntArrayRef dims = DimsBetween(X.sizes(), start_, end_);
      const int64_t count = static_cast<int64_t>(dims.size());
      WriteNumbers(context_, dims, this->template OutputData<int64_t>(0, {count}));
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
  const int64_t start_, end_;
  std::vector<int64_t> picked_;
};

}  // namespace caffe2rt
