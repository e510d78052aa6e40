#pragma once
// ArgMax, ArgMin: the index of the largest (smallest) element along one dimension; the first one if
// several are equal.
//   X float, double, int32 or int64  ->  int64, the shape of X where the dimension has size 1, or
//   is removed with keepdims 0
//
// Elements are compared with > or <, so a NaN wins only if it is the first element. An empty
// dimension gives index 0.

#include <tuple>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/select/arg_max_kernels.h"
#include "operators/select/axis_argument.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kKeepDim{"keepdims", true,
                                             "1: keep the dimension with size 1; 0: remove it"};

// Computes the shape of the output: dims with size 1 at `axis`, or without it.
inline void ReducedDims(IntArrayRef input, int axis, bool keep_dims, std::vector<int64_t>* dims) {
  dims->assign(input.begin(), input.end());
  if (keep_dims) {
    (*dims)[static_cast<size_t>(axis)] = 1;
  } else {
    dims->erase(dims->begin() + axis);
  }
}

template <class Context, bool kMax>
class ArgOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ArgOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->ReadArgument(kSelectAxis)),
        keep_dims_(this->ReadArgument(kKeepDim)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double, int32_t, int64_t>(
        X.dtype(), "input 0 (X)", [&](auto element) { return RunWith(X, element); });
  }

 private:
  template <class T>
  bool RunWith(const Tensor& X, T) {
    const AxisSpan span = SpanOfAxis(X.sizes(), axis_);
    ReducedDims(X.sizes(), span.axis, keep_dims_, &dims_);
    int64_t* out = this->template OutputData<int64_t>(0, dims_);
    // Without results, there may be any number of empty rows.
    if (span.outer == 0 || span.inner == 0) return true;
    std::vector<T>& best = std::get<std::vector<T>>(best_);
    FindBest(context_, span, X.template data<T>(), out, &best, Beats<kMax>());
    return true;
  }

  const int axis_;
  const bool keep_dims_;
  std::vector<int64_t> dims_;
  // Scratch memory for FindBest.
  std::tuple<std::vector<float>, std::vector<double>, std::vector<int32_t>, std::vector<int64_t>>
      best_;
};

}  // namespace caffe2rt
