#pragma once
// Sum, SumInt, Mean, Max, Min: elementwise over one or more tensors, Y[i] = f(X0[i], X1[i], ...).
//   X0, X1, ... of the same type and shape (Max and Min: the same number of elements)  ->  Y as X0
// Y may be X0 (in place).
//
// MeanGradient: each output is dY divided by the number of outputs. Output 0 may be dY.
// MaxGradient, MinGradient: Y, dY, X0, X1, ...  ->  dX0, dX1, ..., where dXi is dY where Xi equals Y,
// and 0 elsewhere. Of equal elements each receives the whole dY. An input may have fewer elements
// than Y; they are compared with the first ones of Y, as in Caffe2.

#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
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
    for (int i = 1; i < InputSize(); ++i) RequireLike(X, Input(i), i);
    X.data<T>();  // THROWS before the output is modified
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

template <class Context, class... Ts>
class MeanGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MeanGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    return DispatchByType<Ts...>(dY.dtype(), "input 0 (dY)", [&](auto element) {
      using T = decltype(element);
      dY.data<T>();  // THROWS before the output is modified
      Tensor* const first = Output(0);
      if (first != &dY) first->ResizeLike(dY);
      T* const scaled = first->template mutable_data<T>();
      Map(context_, dY.numel(), dY.data<T>(), scaled,
          TimesFactor<T>{T(1) / static_cast<T>(OutputSize())});
      for (int i = 1; i < OutputSize(); ++i) {
        Tensor* const dX = Output(i, first->sizes(), TypeMeta::Make<T>());
        context_.CopyBytesSameDevice(first->nbytes(), scaled, dX->template mutable_data<T>());
      }
      return true;
    });
  }
};

template <class Context, class... Ts>
class ChosenGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ChosenGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& Y = Input(0);
    const Tensor& dY = Input(1);
    CAFFE_ENFORCE_EQ(Y.numel(), dY.numel(), "elements of input 0 (Y) of shape ", Y.sizes(),
                     ", want as many as input 1 (dY) of shape ", dY.sizes());
    return DispatchByType<Ts...>(Y.dtype(), "input 0 (Y)", [&](auto element) {
      using T = decltype(element);
      RequireElements<T>(dY);
      for (int i = 0; i < OutputSize(); ++i) {
        const Tensor& X = Input(i + 2);
        CAFFE_ENFORCE_LE(X.numel(), Y.numel(), "elements of input ", i + 2, " of shape ", X.sizes(),
                         ", want at most as many as input 0 (Y) of shape ", Y.sizes());
        RequireElements<T>(X);
      }
      for (int i = 0; i < OutputSize(); ++i) {
        const Tensor& X = Input(i + 2);
        const T* const x = X.data<T>();
        Tensor* const dX = Output(i, X.sizes(), TypeMeta::Make<T>());
        Zip(context_, X.numel(), x, Y.data<T>(), dY.data<T>(), dX->template mutable_data<T>(),
            ChosenGradient{});
      }
      return true;
    });
  }
};

// Registers the operator of a row and its gradient operator for Context's device.
template <class Context, NaryKind kKind, class... Ts>
void RegisterNaryOperators(const NaryRow<kKind, Ts...>& row, const char* file) {
  constexpr DeviceType kDevice = Context::GetDeviceType();
  RegisterOperator<NaryOp<Context, kKind, Ts...>>(kDevice, row.type, file);
  const std::string gradient = std::string(row.type) + "Gradient";
  if constexpr (kKind == NaryKind::kMean) {
    RegisterOperator<MeanGradientOp<Context, Ts...>>(kDevice, gradient, file);
  } else if constexpr (kKind != NaryKind::kSum) {
    RegisterOperator<ChosenGradientOp<Context, Ts...>>(kDevice, gradient, file);
  }
}

}  // namespace caffe2rt
