#pragma once
// Sum, Mean, Max, Min of one or more tensors of one shape, element by element: Y[i] = f(X0[i],
// X1[i], ...).
//   X0, X1, ... one shape and type; Max and Min want one number of elements. Y has X0's shape and
//   may be X0.

#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

// What the operator makes of its inputs.
enum class NaryKind { kSum, kMean, kMax, kMin };

template <class T>
struct TimesFactor {
  T factor;
  CAFFE2RT_SIMD_INLINE T operator()(T x) const { return x * factor; }
};

// y = the inputs combined one after the other. y may be inputs[0]. REQUIRES: count
// >= 1.
template <class T, class Function>
void Combine(CPUContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
             const Function& function) {
  // Blocks that stay in the first cache while the inputs pass by.
  constexpr int64_t kBlock = 4096 / sizeof(T);
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t length = n - start < kBlock ? n - start : kBlock;
    const T* sum = static_cast<const T*>(inputs[0]) + start;
    for (size_t k = 1; k < count; ++k) {
      Zip(context, length, sum, static_cast<const T*>(inputs[k]) + start, y + start, function);
      sum = y + start;
    }
  }
}

// The same, each result times `factor`.
template <class T, class Function>
void CombineAndScale(CPUContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
                     const Function& function, T factor) {
  Combine(context, inputs, count, n, y, function);
  Map(context, n, y, y, TimesFactor<T>{factor});
}

template <class Context, NaryKind kKind, class First, class... Rest>
class NaryOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NaryOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), inputs_(static_cast<size_t>(InputSize())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (X.IsType<First>()) return RunWithType<First>(X);
    if constexpr (sizeof...(Rest) > 0) {
      if ((... || (X.IsType<Rest>() && RunWithType<Rest>(X)))) return true;
    }
    internal::ThrowUnsupportedType("input 0", X.dtype(), internal::TypeNames<First, Rest...>());
  }

 private:
  static constexpr bool kOneShape = kKind == NaryKind::kSum || kKind == NaryKind::kMean;
  using Function =
      std::conditional_t<kOneShape, AddFunction,
                         std::conditional_t<kKind == NaryKind::kMax, MaxFunction, MinFunction>>;

  template <class T>
  bool RunWithType(const Tensor& X) {
    X.data<T>();  // THROWS before the output is touched
    for (int i = 1; i < InputSize(); ++i) RequireLike(X, Input(i), i);
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    T* y = Y->template mutable_data<T>();
    for (size_t i = 0; i < inputs_.size(); ++i)
      inputs_[i] = Input(static_cast<int>(i)).template data<T>();
    if (inputs_.size() == 1) {
      if (Y != &X) context_.CopyBytesSameDevice(X.nbytes(), inputs_[0], y);
      return true;
    }
    if constexpr (kKind == NaryKind::kMean) {
      CombineAndScale(context_, inputs_.data(), inputs_.size(), X.numel(), y, Function{},
                      T(1) / static_cast<T>(inputs_.size()));
    } else {
      Combine(context_, inputs_.data(), inputs_.size(), X.numel(), y, Function{});
    }
    return true;
  }

  static void RequireLike(const Tensor& first, const Tensor& other, int i) {
    CAFFE_ENFORCE(other.dtype() == first.dtype(), "input ", i, " has elements of type ",
                  other.dtype().name(), ", want ", first.dtype().name(), " as input 0");
    if constexpr (kOneShape) {
      CAFFE_ENFORCE(other.dims() == first.dims(), "input ", i, " has shape ", other.sizes(),
                    ", want ", first.sizes(), " as input 0");
    } else {
      CAFFE_ENFORCE_EQ(other.numel(), first.numel(), "elements of input ", i, " of shape ",
                       other.sizes(), ", want as many as input 0 of shape ", first.sizes());
    }
  }

  std::vector<const void*> inputs_;
};

}  // namespace caffe2rt
