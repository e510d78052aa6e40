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
#include "operators/primitives/function_table.h"
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

// The part of the operators that does not depend on the type of the elements.
class [[gnu::visibility("default")]] BinaryShapes {
 public:
  explicit BinaryShapes(const ArgumentHelper& args) : arguments_(args) {}

  // Gives Y the shape of the result. Returns whether A and B have equal shapes; otherwise loops()
  // has the loops over their elements. THROWS if the types of A and B differ, or if the shapes
  // cannot be broadcast or do not allow Y in place.
  bool Prepare(const Tensor& A, const Tensor& B, Tensor* Y);
  const BroadcastLoops& loops() const { return plan_.loops(); }

 private:
  const BroadcastArguments arguments_;
  BroadcastPlan plan_;
};

template <class Context, class Function, class First, class... Rest>
class BinaryElementwiseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryElementwiseOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), shapes_(this->args()) {}

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
    Tensor* Y = Output(0);
    const bool same = shapes_.Prepare(A, B, Y);
    if constexpr (NeedsNonZero<Function> && std::is_integral_v<T>) {
      if (Y->numel() > 0) RequireNonZero(context_, B.data<T>(), B.numel());
    }
    A.data<T>(), B.data<T>();  // THROWS before the output is modified
    Result* y = Y->template mutable_data<Result>();
    const T* a = A.data<T>();
    const T* b = B.data<T>();
    if (same) {
      Zip(context_, A.numel(), a, b, y, Function{});
    } else if (Y->numel() > 0) {
      ZipBroadcast(context_, shapes_.loops(), a, b, y, Function{});
    }
    return true;
  }

  BinaryShapes shapes_;
};

// The inputs and outputs of a gradient operator in one run.
struct BinaryGradientTensors {
  const Tensor& A;
  const Tensor& B;
  const Tensor& Y;  // dY if Y is not an input
  const Tensor& dY;
  Tensor* dA;
  Tensor* dB;
};

// The part of the gradient operators that does not depend on the type of the elements.
class [[gnu::visibility("default")]] BinaryGradientShapes {
 public:
  // `reads_y`: whether Y is an input. REQUIRES: `op` outlives this object.
  BinaryGradientShapes(OperatorBase * op, DeviceType device, bool reads_y);

  BinaryGradientTensors Tensors() const;
  const char* NameOfDy() const { return old_ ? "input 2 (dY)" : "input 0 (dY)"; }

  // Gives the outputs their shapes. THROWS if the types of the inputs differ, if the shapes do not
  // match, or if they do not allow an output in place.
  void Prepare(const BinaryGradientTensors& tensors);
  const BroadcastLoops& loops() const { return plan_.loops(); }

 private:
  void ResizeOutput(int i, Tensor* output, const Tensor& operand) const;

  OperatorBase* const op_;
  const DeviceType device_;
  const bool reads_y_;
  // The inputs are B, Y, dY. Y stands in the place of A: it has its shape, and the values are not
  // used.
  const bool old_;
  const BroadcastArguments arguments_;
  BroadcastPlan plan_;
};

// dA and dB. The inputs are dY, A, B and, if the function needs it, Y, or in old nets B, Y, dY; all
// have the same type. dY has as many elements as the result of broadcasting A and B. An output may
// be dY (in place) if the schema allows it and they have as many elements; it is then computed last.
// (MulGradient of Caffe2 reads what it has overwritten, and if the shapes of A and B differ, both
// results are 0.)
template <class Context, HasBinaryGradient Function, class... Ts>
class BinaryGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        shapes_(this, Context::GetDeviceType(), Function::kGradientReads.y) {}

  bool RunOnDevice() override {
    const BinaryGradientTensors tensors = shapes_.Tensors();
    return DispatchByType<Ts...>(tensors.dY.dtype(), shapes_.NameOfDy(), [&](auto element) {
      return RunWithType<decltype(element)>(tensors);
    });
  }

 private:
  template <class T>
  bool RunWithType(const BinaryGradientTensors& tensors) {
    shapes_.Prepare(tensors);
    T* const da = tensors.dA->template mutable_data<T>();
    T* const db = tensors.dB->template mutable_data<T>();
    if (shapes_.loops().output_size == 0) {
      SetToZero(context_, tensors.dA->numel(), da);
      SetToZero(context_, tensors.dB->numel(), db);
      return true;
    }
    const auto compute = [&]<Operand kOperand>(T* out) {
      OperandGradient<kOperand>(context_, shapes_.loops(), tensors.A.template data<T>(),
                                tensors.B.template data<T>(), tensors.Y.template data<T>(),
                                tensors.dY.template data<T>(), out, Function{});
    };
    // dA may be dY, also as two blobs at one address, and it may be B if the inputs are B, Y, dY.
    if (Function::kGradientReads.y || da == tensors.dY.raw_data()) {
      compute.template operator()<Operand::kB>(db);
      compute.template operator()<Operand::kA>(da);
    } else {
      compute.template operator()<Operand::kA>(da);
      compute.template operator()<Operand::kB>(db);
    }
    return true;
  }

  BinaryGradientShapes shapes_;
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
