#pragma once
// Sum, Mean, Max, Min: elementwise over one or more tensors, Y[i] = f(X0[i], X1[i], ...).
//   X0, X1, ... of the same type and shape (Max and Min: the same number of elements)  ->  Y as X0
// Y may be X0 (in place).

#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/nary_kernels.h"

namespace caffe2rt {

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
  using Function = NaryFunction<kKind>;

  template <class T>
  bool RunWithType(const Tensor& X) {
    X.data<T>();  // THROWS before the output is modified
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
