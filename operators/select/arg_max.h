#pragma once
// ArgMax, ArgMin: the index of the largest (smallest) element along one dimension, the first of
// equal ones.
//   X float, double, int32 or int64  ->  int64, the dimension with size 1, or without it (keepdims
//   0)
//
// Elements are compared with < or >, so a NaN counts only when it stands first. An empty dimension
// gives 0.

#include <algorithm>
#include <tuple>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/select/axis_span.h"

namespace caffe2rt {

// The shape of the output: dims with size 1 at `axis`, or without it.
inline void ReducedDims(IntArrayRef input, int axis, bool keep_dims, std::vector<int64_t>* dims) {
  dims->assign(input.begin(), input.end());
  if (keep_dims) {
    (*dims)[static_cast<size_t>(axis)] = 1;
  } else {
    dims->erase(dims->begin() + axis);
  }
}

// Whether a is a better choice than b.
template <bool kMax>
struct Beats {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return kMax ? a > b : a < b;
  }
};

// The indices of the best elements of X[outer][size][inner]. `best` is working memory.
template <class T, class Better>
void FindBest(CPUContext&, const AxisSpan& span, const T* x, int64_t* out, std::vector<T>* best,
              Better better) {
  if (span.inner == 1) {
    for (int64_t i = 0; i < span.outer; ++i, x += span.size) {
      int64_t index = 0;
      for (int64_t j = 1; j < span.size; ++j) {
        if (better(x[j], x[index])) index = j;
      }
      out[i] = index;
    }
    return;
  }
  // Row by row, so that memory is read in order.
  for (int64_t i = 0; i < span.outer; ++i, out += span.inner) {
    std::fill(out, out + span.inner, 0);
    if (span.size == 0) continue;
    best->assign(x, x + span.inner);
    x += span.inner;
    for (int64_t j = 1; j < span.size; ++j, x += span.inner) {
      for (int64_t p = 0; p < span.inner; ++p) {
        if (!better(x[p], (*best)[static_cast<size_t>(p)])) continue;
        (*best)[static_cast<size_t>(p)] = x[p];
        out[p] = j;
      }
    }
  }
}

template <class Context, bool kMax>
class ArgOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ArgOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->template GetSingleArgument<int>("axis", -1)),
        keep_dims_(this->template GetSingleArgument<bool>("keepdims", true)) {}

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
    std::vector<T>& best = std::get<std::vector<T>>(best_);
    FindBest(context_, span, X.template data<T>(), out, &best, Beats<kMax>());
    return true;
  }

  const int axis_;
  const bool keep_dims_;
  std::vector<int64_t> dims_;
  // Scratch of FindBest.
  std::tuple<std::vector<float>, std::vector<double>, std::vector<int32_t>, std::vector<int64_t>>
      best_;
};

}  // namespace caffe2rt
