#pragma once
// Elementwise operators y = f(a, b) with broadcasting (operators/common/broadcast.h): one class for
// all of them, and the registration of a table's rows.
//
//   RegisterBinary(kArithmetic, __FILE__);                          // <stem>.cc
//   RegisterBinaryOperators<CUDAContext>(kArithmetic, __FILE__);    // <stem>_cuda.cc
//
// A function is a struct without members whose operands have the same type. Y may be A or B (in
// place) if the row and the broadcasting rules allow it and that input has the shape of the result.

#include <type_traits>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/function_schema.h"
#include "operators/elementwise/function_table.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

// THROWS if a divisor is 0.
template <class T>
void RequireNonZero(CPUContext&, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    CAFFE_ENFORCE(b[i] != 0, "input 1 (B) is 0 at element ", i,
                  ", want other numbers: integers cannot be divided by 0");
  }
}

template <class Context, class Function, class First, class... Rest>
class BinaryElementwiseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryElementwiseOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args()) {}

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    if (__builtin_expect(A.IsType<First>(), 1)) return RunWithType<First>(A);
    if constexpr (sizeof...(Rest) > 0) {
      if ((... || (A.IsType<Rest>() && RunWithType<Rest>(A)))) return true;
    }
    internal::ThrowUnsupportedType("input 0 (A)", A.dtype(), internal::TypeNames<First, Rest...>());
  }

 private:
  template <class T>
  bool RunWithType(const Tensor& A) {
    using Result = ResultOf<Function, T, T>;
    const Tensor& B = Input(1);
    CAFFE_ENFORCE(B.IsType<T>(), "input 1 (B) has elements of type ", B.dtype().name(), ", want ",
                  A.dtype().name(), " as input 0 (A)");
    Tensor* Y = Output(0);
    CAFFE_ENFORCE(
        !arguments_.legacy || Y != &B,
        "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be "
        "overwritten in place");
    const bool same = A.dims() == B.dims() && arguments_.FitsEqualShapes();
    if (!same) {
      plan_.Make(A.sizes(), B.sizes(), arguments_);
      CAFFE_ENFORCE((Y != &A && Y != &B) || Y->dims() == plan_.output_dims(),
                    "output 0 (Y) is an input of shape ", Y->sizes(), ", but the result has shape ",
                    IntArrayRef(plan_.output_dims()), ": use another blob");
    }
    if (Y != &A && Y != &B) Y->Resize(same ? A.sizes() : IntArrayRef(plan_.output_dims()));
    if constexpr (NeedsNonZero<Function> && std::is_integral_v<T>) {
      if (Y->numel() > 0) RequireNonZero(context_, B.data<T>(), B.numel());
    }
    A.data<T>(), B.data<T>();  // THROWS before the output is modified
    Result* y = Y->template mutable_data<Result>();
    const T* a = A.data<T>();
    const T* b = B.data<T>();
    if (same) {
      Zip(context_, A.numel(), a, b, y, Function{});
    } else if (plan_.output_size() > 0) {
      ZipBroadcast(context_, plan_.loops(), a, b, y, Function{});
    }
    return true;
  }

  const BroadcastArguments arguments_;
  BroadcastPlan plan_;
};

// Registers the operator of each row for Context's device.
template <class Context, class... Rows>
void RegisterBinaryOperators(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file]<class Function, class... Ts>(const BinaryRow<Function, Ts...>& row) {
    RegisterOperator<BinaryElementwiseOp<Context, Function, Ts...>>(Context::GetDeviceType(),
                                                                    row.type, file);
  });
}

// Registers the schema, the gradient maker and the CPU operator of each row.
template <class... Rows>
void RegisterBinary(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file](const auto& row) { DeclareRow(row, file); });
  RegisterBinaryOperators<CPUContext>(table, file);
}

}  // namespace caffe2rt
