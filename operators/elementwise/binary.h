#pragma once
// Elementwise operators y = f(a, b) with broadcasting (operators/common/broadcast.h): one class for
// all of them, one for their gradient operators, and the registration of a table's rows.
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
#include "operators/elementwise/operand_gradient.h"

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

// dA and dB. The inputs are dY, A, B and, if the function needs it, Y, or in old nets B, Y, dY; all
// have the same type. dY has as many elements as the result of broadcasting A and B. An output may
// be dY (in place) if the schema allows it and they have as many elements.
//
// MulGradient in place is what Caffe2 makes of it, not the gradient: dA is computed before dB, from
// memory that the other may have overwritten, and if the shapes of A and B differ, both are 0,
// because the outputs are set to 0 before dY is read (kGradientClearsFirst).
template <class Context, HasBinaryGradient Function, class... Ts>
class BinaryGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(this->args()),
        old_(Function::kGradientReadsY && InputSize() == 3) {}

  bool RunOnDevice() override {
    // The old inputs have Y in the place of A. It has the shape of A, and the values are not used.
    const Operands in{Input(1), Input(old_ ? 0 : 2),
                      Input(Function::kGradientReadsY ? (old_ ? 1 : 3) : 0), Input(old_ ? 2 : 0)};
    return DispatchByType<Ts...>(in.dY.dtype(), old_ ? "input 2 (dY)" : "input 0 (dY)",
                                 [&](auto element) { return RunWithType<decltype(element)>(in); });
  }

 private:
  struct Operands {
    const Tensor& A;
    const Tensor& B;
    const Tensor& Y;  // dY if the function does not need Y
    const Tensor& dY;
  };

  template <class T>
  bool RunWithType(const Operands& in) {
    RequireType<T>(in.A, "A", in.dY);
    RequireType<T>(in.B, "B", in.dY);
    RequireType<T>(in.Y, "Y", in.dY);
    plan_.Make(in.A.sizes(), in.B.sizes(), arguments_);
    CAFFE_ENFORCE(in.dY.numel() == plan_.output_size() && in.Y.numel() == plan_.output_size(),
                  "dY has shape ", in.dY.sizes(), " and Y ", in.Y.sizes(), ", want ",
                  IntArrayRef(plan_.output_dims()));
    // One element, and equal shapes without `broadcast`, count as one list of elements.
    const bool alike = arguments_.legacy ? plan_.output_size() == 1 && in.B.numel() == 1
                                         : in.A.dims() == in.B.dims();
    Tensor* const dA = Gradient(0, in.A);
    Tensor* const dB = Gradient(1, in.B);
    T* const da = dA->template mutable_data<T>();
    T* const db = dB->template mutable_data<T>();
    const bool inplace = dA == &in.dY || dB == &in.dY;
    if (plan_.output_size() == 0 || (GradientClearsFirst<Function> && inplace && !alike)) {
      SetToZero(context_, dA->numel(), da);
      SetToZero(context_, dB->numel(), db);
      return true;
    }
    const auto compute = [&]<Operand kOperand>(T* out) {
      OperandGradient<kOperand>(context_, plan_.loops(), in.A.template data<T>(),
                                in.B.template data<T>(), in.Y.template data<T>(),
                                in.dY.template data<T>(), out, Function{});
    };
    // dA may be dY, and it may be B if the inputs are B, Y, dY.
    if constexpr (Function::kGradientReadsY) {
      compute.template operator()<Operand::kB>(db);
      compute.template operator()<Operand::kA>(da);
    } else {
      compute.template operator()<Operand::kA>(da);
      compute.template operator()<Operand::kB>(db);
    }
    return true;
  }

  template <class T>
  static void RequireType(const Tensor& tensor, const char* name, const Tensor& dY) {
    CAFFE_ENFORCE(tensor.IsType<T>(), name, " has elements of type ", tensor.dtype().name(),
                  ", want ", dY.dtype().name(), " as dY");
    tensor.data<T>();  // THROWS before the outputs are modified
  }

  // Output i with the shape of `operand`.
  Tensor* Gradient(int i, const Tensor& operand) {
    Tensor* const output = Output(i);
    for (int k = 0; k < InputSize(); ++k) {
      CAFFE_ENFORCE(output != &Input(k) || output->numel() == operand.numel(), "output ", i,
                    " is input ", k, " of shape ", output->sizes(), ", but the gradient has shape ",
                    operand.sizes(), ": use another blob");
    }
    output->ResizeLike(operand);
    return output;
  }

  const BroadcastArguments arguments_;
  const bool old_;
  BroadcastPlan plan_;
};

// Registers the operators of each row for Context's device.
template <class Context, class... Rows>
void RegisterBinaryOperators(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file]<class Function, class... Ts>(const BinaryRow<Function, Ts...>& row) {
    constexpr DeviceType kDevice = Context::GetDeviceType();
    RegisterOperator<BinaryElementwiseOp<Context, Function, Ts...>>(kDevice, row.type, file);
    if constexpr (HasBinaryGradient<Function>) {
      RegisterOperator<BinaryGradientOp<Context, Function, Ts...>>(kDevice,
                                                                   GradientTypeOf(row.type), file);
    }
  });
}

// Registers the schemas, the gradient maker and the CPU operators of each row.
template <class... Rows>
void RegisterBinary(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file](const auto& row) { DeclareRow(row, file); });
  RegisterBinaryOperators<CPUContext>(table, file);
}

}  // namespace caffe2rt
