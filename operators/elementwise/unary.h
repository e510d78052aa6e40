#pragma once
// Elementwise operators y[i] = f(x[i]): one class for all of them, one for their gradient operators,
// and the registration of a table's rows.
//
//   RegisterUnary(kUnaryMath, {.family = OperatorFamily::kElementwise}, __FILE__);    // <stem>.cc
//   RegisterUnaryOperators<CUDAContext>(kUnaryMath, __FILE__);           // <stem>_cuda.cc
//
// Y has the shape of X. Y may be X (in place) if the row allows it. dX has the shape of X or Y; dY
// must have as many elements.

#include <tuple>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/function_schema.h"
#include "operators/elementwise/map.h"
#include "operators/primitives/function_table.h"

namespace caffe2rt {

// The function with the arguments of the operator. THROWS if an argument fails its check.
template <class Function>
Function MakeFunction(const ArgumentHelper& args) {
  if constexpr (HasArguments<Function>) {
    return std::apply([&args](const auto&... specs) { return Function{args.Read(specs)...}; },
                      Function::kArguments);
  } else {
    return Function{};
  }
}

template <class Context, class Function, class First, class... Rest>
class UnaryElementwiseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UnaryElementwiseOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), function_(MakeFunction<Function>(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (__builtin_expect(X.IsType<First>(), 1)) return RunWithType<First>(X);
    if constexpr (sizeof...(Rest) > 0) {
      if ((... || (X.IsType<Rest>() && RunWithType<Rest>(X)))) return true;
    }
    internal::ThrowUnsupportedType("input 0 (X)", X.dtype(), internal::TypeNames<First, Rest...>());
  }

 private:
  template <class T>
  bool RunWithType(const Tensor& X) {
    using Result = ResultOf<Function, T>;
    const T* x = static_cast<const T*>(X.raw_data());
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    Result* y = Y->template mutable_data<Result>();
    if (Y == &X) x = static_cast<const T*>(X.raw_data());  // mutable_data copied read-only memory
    Map(context_, X.numel(), x, y, function_);
    return true;
  }

  const Function function_;
};

template <class Function>
concept GradientRejectsScalars = requires {
  requires Function::kGradientRejectsScalars;
};

// The inputs are those that Function::kGradientInputs lists, all of one type.
template <class Context, HasGradient Function, class... Ts>
class UnaryGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UnaryGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), function_{MakeFunction<Function>(this->args())} {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(kDy);
    return DispatchByType<Ts...>(dY.dtype(), kDySubject,
                                 [&](auto element) { return RunWithType<decltype(element)>(dY); });
  }

 private:
  static constexpr GradientInputs kInputs = Function::kGradientInputs;
  static constexpr int kDy = PlaceOfDy(kInputs);
  static constexpr int kValue = PlaceOfValue(kInputs);
  static constexpr const char* kDySubject =
      kDy == 0 ? "input 0 (dY)" : (kDy == 1 ? "input 1 (dY)" : "input 2 (dY)");

  template <class T>
  bool RunWithType(const Tensor& dY) {
    const Tensor& value = Input(kValue);
    RequireLike<T>(kValue, value, dY);
    if constexpr (ReadsXAndY(kInputs)) RequireLike<T>(1, Input(1), dY);
    if constexpr (GradientRejectsScalars<Function>) {
      CAFFE_ENFORCE_GE(value.dim(), 1, "rank of input ", kValue, " (X)");
    }
    dY.data<T>();  // THROWS before the output is modified
    Tensor* dX = Output(0);
    dX->ResizeLike(value);
    T* dx = dX->template mutable_data<T>();
    const T* dy = dY.data<T>();
    const T* values = value.data<T>();
    if constexpr (ReadsXAndY(kInputs)) {
      Zip(context_, dY.numel(), values, Input(1).template data<T>(), dy, dx, function_);
    } else {
      Zip(context_, dY.numel(), values, dy, dx, function_);
    }
    return true;
  }

  template <class T>
  static void RequireLike(int i, const Tensor& tensor, const Tensor& dY) {
    CAFFE_ENFORCE(tensor.IsType<T>(), "input ", i, " has elements of type ", tensor.dtype().name(),
                  ", want ", dY.dtype().name(), " as ", kDySubject);
    CAFFE_ENFORCE_EQ(tensor.numel(), dY.numel(), "elements of input ", i, " of shape ",
                     tensor.sizes(), ", want as many as ", kDySubject, " of shape ", dY.sizes());
    tensor.data<T>();
  }

  const GradientOf<Function> function_;
};

// Registers the operators of each row for Context's device.
template <class Context, class... Rows>
void RegisterUnaryOperators(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    constexpr DeviceType kDevice = Context::GetDeviceType();
    RegisterOperator<UnaryElementwiseOp<Context, Function, Ts...>>(kDevice, row.type, file);
    if constexpr (HasGradient<Function>) {
      RegisterOperator<UnaryGradientOp<Context, Function, Ts...>>(kDevice, GradientTypeOf(row.type),
                                                                  file);
    }
  });
}

// Registers the schemas, the gradient maker and the CPU operators of each row. `common`: traits of all
// rows.
template <class... Rows>
void RegisterUnary(const FunctionTable<Rows...>& table, const OperatorTraits& common,
                   const char* file) {
  table.ForEach([&common, file](const auto& row) { DeclareRow(row, common, file); });
  RegisterUnaryOperators<CPUContext>(table, file);
}

}  // namespace caffe2rt
