#pragma once
// Operators y[i] = f(x[i]): one class for all of them, and how a function becomes an operator.
//
//   RegisterUnary<LeakyRelu, float>({.type = "LeakyRelu", .doc = "...", .inplace = true,
//                                    .args = {{"alpha", "slope for x < 0", 0.01f}}}, __FILE__);
//
// A function is a struct with a constructor from ArgumentHelper, which may THROW, and a call
// operator for each of the element types; the result's type is the output's. X and Y have one
// shape; Y may be X where the row allows it.

#include <initializer_list>
#include <string>
#include <type_traits>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

class CUDAContext;

template <class Context, class Function, class First, class... Rest>
class UnaryElementwiseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UnaryElementwiseOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), function_(this->args()) {}

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
    using Result = std::decay_t<decltype(function_(T{}))>;
    const T* x = static_cast<const T*>(X.raw_data());
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    Result* y = Y->template mutable_data<Result>();
    if (Y == &X) x = static_cast<const T*>(X.raw_data());  // memory that was read-only has moved
    Map(context_, X.numel(), x, y, function_);
    return true;
  }

  const Function function_;
};

struct UnaryArgument {
  const char* name;
  const char* doc;
  double default_value;
};

struct UnaryRow {
  const char* type;
  const char* doc;
  bool inplace = false;
  std::initializer_list<UnaryArgument> args = {};
  const char* text_argument =
      nullptr;  // a further argument, of text, that is accepted and has no effect
  TensorProto_DataType result =
      TensorProto::UNDEFINED;  // the output's type where it is not the input's
};

// The schema of a row.
void RegisterUnarySchema(const UnaryRow& row, const char* file);

// Schema and CPU operator of a row, for elements of First and Rest.
template <class Function, class First, class... Rest>
void RegisterUnary(const UnaryRow& row, const char* file) {
  RegisterUnarySchema(row, file);
  RegisterCpuOperator<UnaryElementwiseOp<CPUContext, Function, First, Rest...>>(row.type, file);
}

// The CUDA operator of a row; where it is called, map.cuh is included.
template <class Function, class First, class... Rest>
void RegisterUnaryCuda(const char* type, const char* file) {
  RegisterOperator<UnaryElementwiseOp<CUDAContext, Function, First, Rest...>>(CUDA, type, file);
}

}  // namespace caffe2rt
