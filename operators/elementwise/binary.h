#pragma once
// Operators y = f(a, b), element by element, with broadcasting (operators/common/broadcast.h): one
// class for all of them, and how a function becomes an operator.
//
//   RegisterBinary<AddFunction, float, double>({.type = "Add", .doc = "Y = A + B."}, __FILE__);
//
// A function is a struct without members and a call operator for each of the element types; the
// result's type is the output's. A and B have elements of one type. Y may be A, or B where the row
// and the rules of broadcasting allow it, when it has the result's shape.

#include <set>
#include <type_traits>
#include <utility>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

class CUDAContext;

// THROWS where an element is 0; a device does at its next wait.
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
    using Result = std::decay_t<decltype(Function{}(T{}, T{}))>;
    const Tensor& B = Input(1);
    CAFFE_ENFORCE(B.IsType<T>(), "input 1 (B) has elements of type ", B.dtype().name(), ", want ",
                  A.dtype().name(), " as input 0 (A)");
    Tensor* Y = Output(0);
    CAFFE_ENFORCE(
        !arguments_.legacy || Y != &B,
        "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be "
        "worked on in place");
    const bool same = A.dims() == B.dims() && arguments_.FitsEqualShapes();
    if (!same) {
      plan_.Make(A.sizes(), B.sizes(), arguments_);
      CAFFE_ENFORCE((Y != &A && Y != &B) || Y->dims() == plan_.output_dims(),
                    "output 0 (Y) is an input of shape ", Y->sizes(), ", but the result has shape ",
                    IntArrayRef(plan_.output_dims()), ": name another blob");
    }
    if (Y != &A && Y != &B) Y->Resize(same ? A.sizes() : IntArrayRef(plan_.output_dims()));
    if constexpr (Function::kNeedsNonZero && std::is_integral_v<T>) {
      if (Y->numel() > 0) RequireNonZero(context_, B.data<T>(), B.numel());
    }
    A.data<T>(), B.data<T>();  // THROWS before the output is touched
    Result* y = Y->template mutable_data<Result>();
    const T* a = A.data<T>();
    const T* b = B.data<T>();
    if (same) {
      Zip(context_, A.numel(), a, b, y, Function{});
    } else if (plan_.output_size() > 0) {
      ZipBroadcast(context_, plan_, a, b, y, Function{});
    }
    return true;
  }

  const BroadcastArguments arguments_;
  BroadcastPlan plan_;
};

struct BinaryRow {
  const char* type;
  const char* doc;
  std::set<std::pair<int, int>> inplace = {};
  TensorProto_DataType result =
      TensorProto::UNDEFINED;  // the output's type where it is not the inputs'
};

// The schema of a row.
void RegisterBinarySchema(const BinaryRow& row, const char* file);

// Schema and CPU operator of a row, for elements of First and Rest.
template <class Function, class First, class... Rest>
void RegisterBinary(const BinaryRow& row, const char* file) {
  RegisterBinarySchema(row, file);
  RegisterCpuOperator<BinaryElementwiseOp<CPUContext, Function, First, Rest...>>(row.type, file);
}

// The CUDA operator of a row; where it is called, map.cuh is included.
template <class Function, class First, class... Rest>
void RegisterBinaryCuda(const char* type, const char* file) {
  RegisterOperator<BinaryElementwiseOp<CUDAContext, Function, First, Rest...>>(CUDA, type, file);
}

}  // namespace caffe2rt
