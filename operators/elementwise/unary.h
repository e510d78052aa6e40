#pragma once
// Elementwise operators y[i] = f(x[i]): one class for all of them, and the registration of a
// table's rows.
//
//   RegisterUnary(kActivations, __FILE__);                          // <stem>.cc
//   RegisterUnaryOperators<CUDAContext>(kActivations, __FILE__);    // <stem>_cuda.cc
//
// Y has the shape of X. Y may be X (in place) if the row allows it.

#include <tuple>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/function_schema.h"
#include "operators/elementwise/function_table.h"
#include "operators/elementwise/map.h"

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

// Registers the operator of each row for Context's device.
template <class Context, class... Rows>
void RegisterUnaryOperators(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    RegisterOperator<UnaryElementwiseOp<Context, Function, Ts...>>(Context::GetDeviceType(),
                                                                   row.type, file);
  });
}

// Registers the schema, the gradient maker and the CPU operator of each row.
template <class... Rows>
void RegisterUnary(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file](const auto& row) { DeclareRow(row, file); });
  RegisterUnaryOperators<CPUContext>(table, file);
}

}  // namespace caffe2rt
