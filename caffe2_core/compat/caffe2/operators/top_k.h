#pragma once
// TopKOp and TopKGradientOp: the greatest elements along an axis, and its gradient: classes that users
// specialize or extend. The built-in operators TopK and TopKGradient are other classes.
#include <algorithm>
#include <numeric>
#include <vector>

#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

// Input X; outputs the k greatest elements along `axis` in descending order, their indices (int64),
// and, if there is a third output, their indices in the flattened X. Equal elements are in the order
// of their indices. Where the axis has fewer than k elements, the rest is 0 with index -1. Computes
// for CPUContext; for other contexts, a source specializes the class or RunOnDevice.
template <typename T, class Context>
class TopKOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TopKOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        k_(this->template GetSingleArgument<int>("k", -1)),
        axis_(this->template GetSingleArgument<int>("axis", -1)) {
    CAFFE_ENFORCE_GE(k_, 1, "argument k");
  }

  bool RunOnDevice() override {
    if constexpr (Context::GetDeviceType() == CPU) {
      const auto& X = Input(0);
      const int axis = X.canonical_axis_index(axis_);
      vector<int64_t> dims = X.sizes().vec();
      dims[static_cast<size_t>(axis)] = k_;
      for (int i = 0; i < 2; ++i) Output(i)->Resize(dims);
      if (OutputSize() > 2) Output(2)->Resize(Output(1)->numel());
      const int64_t step = X.size_from_dim(axis + 1), n = X.dim(axis);
      for (int64_t row = 0; row < X.size_to_dim(axis) * step; ++row) {
        Select(row / step, row % step, n, step);
      }
      return true;
    } else {
      CAFFE_NOT_IMPLEMENTED;
    }
  }

 protected:
  int k_;
  int axis_;

 private:
  // The row of `n` elements that begins at element `column` of block `block`, `step` elements apart.
  void Select(int64_t block, int64_t column, int64_t n, int64_t step) {
    const int64_t start = block * n * step + column;
    const T* x = Input(0).template data<T>() + start;
    order_.resize(static_cast<size_t>(n));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    const int64_t found = std::min<int64_t>(k_, n);
    std::partial_sort(order_.begin(), order_.begin() + found, order_.end(),
                      [x, step](int64_t i, int64_t j) {
                        return x[i * step] > x[j * step] || (x[i * step] == x[j * step] && i < j);
                      });
    for (int64_t i = 0; i < k_; ++i) {
      const int64_t to = (block * k_ + i) * step + column;
      const int64_t index = i < found ? order_[static_cast<size_t>(i)] : -1;
      Output(0)->template mutable_data<T>()[to] = index < 0 ? T(0) : x[index * step];
      Output(1)->template mutable_data<int64_t>()[to] = index;
      if (OutputSize() < 3) continue;
      Output(2)->template mutable_data<int64_t>()[to] = index < 0 ? -1 : start + index * step;
    }
  }

  vector<int64_t> order_;
};

// Inputs: the gradient of the values, the indices, and X. Output: the gradient of X.
template <typename T, class Context>
class TopKGradientOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TopKGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->template GetSingleArgument<int>("axis", -1)) {}

  bool RunOnDevice() override {
    if constexpr (Context::GetDeviceType() == CPU) {
      const auto& dY = Input(0);
      const auto& X = Input(2);
      const int axis = X.canonical_axis_index(axis_);
      const int64_t step = X.size_from_dim(axis + 1), n = X.dim(axis), k = dY.dim(axis);
      CAFFE_ENFORCE_EQ(Input(1).numel(), dY.numel(), "elements of input 1 (indices)");
      CAFFE_ENFORCE_EQ(dY.numel(), X.size_to_dim(axis) * k * step, "elements of input 0");
      Output(0)->ResizeLike(X);
      T* const dx = Output(0)->template mutable_data<T>();
      math::Set<T, Context>(X.numel(), T(0), dx, &context_);
      const int64_t* const indices = Input(1).template data<int64_t>();
      for (int64_t i = 0; i < dY.numel(); ++i) {
        const int64_t index = indices[i];
        CAFFE_ENFORCE_LT(index, n, "index ", i);
        if (index < 0) continue;
        dx[(i / (k * step) * n + index) * step + i % step] = dY.template data<T>()[i];
      }
      return true;
    } else {
      CAFFE_NOT_IMPLEMENTED;
    }
  }

 protected:
  int axis_;
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif
}  // namespace caffe2
