#pragma once
// Tables of element functions. One row defines an operator for all devices.
//
// An element function is a struct of plain numbers with a call operator for each of its element
// types. The return type determines the element type of the output. The struct declares its
// arguments in kArguments, in the order of the members that they initialize, and may define its
// derivative:
//
//   struct LeakyRelu {
//     static constexpr std::tuple kArguments{
//         ArgumentSpec<float>{"alpha", 0.01f, "slope for x < 0"}};
//     float alpha;
//     CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? alpha * x : x; }
//     // dy/dx of y = f(x).
//     CAFFE2RT_SIMD_INLINE float Derivative(float x, float) const {
//       return x < 0.0f ? alpha : 1.0f;
//     }
//   };
//   inline constexpr FunctionTable kActivations{
//       UnaryRow<LeakyRelu, float>{.type = "LeakyRelu", .doc = "...", .inplace = true}, ...};
//
// The derivative is optional. No operator uses it yet; tests compare it with finite differences.
// Functions of two elements have no derivatives yet; the planned names are DerivativeA(a, b, y) and
// DerivativeB(a, b, y).
//
// Three files use a table: <stem>.cc registers schemas, gradient makers and CPU operators,
// <stem>_cuda.cc registers the CUDA operators, and <stem>.cu instantiates their kernels (map.cuh).
// This header includes no protobuf, so .cu files may include it.

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "caffe2_core/graph/argument_spec.h"

namespace caffe2rt {

template <class Function>
concept HasArguments = requires {
  Function::kArguments;
};

template <class Function, class T>
concept HasDerivative = requires(const Function& f, T x) {
  { f.Derivative(x, x) } -> std::same_as<T>;
};

template <class Function, class... Ts>
using ResultOf = std::decay_t<decltype(std::declval<const Function&>()(std::declval<Ts>()...))>;

// The gradient maker of an operator, and so the result of GetGradientForOp.
enum class GradientKind {
  kMissing,         // no maker is registered: an error that names the operator
  kZero,            // the output is piecewise constant: the backward pass ends here
  kUndefined,       // an error: the function is not differentiable
  kNotImplemented,  // an error: the derivative exists, but Caffe2 has no gradient either
};

// An operator y[i] = Function(x[i]) for the element types Ts.
template <class Function, class... Ts>
struct UnaryRow {
  const char* type;  // of the operator
  const char* doc;
  bool inplace = false;  // whether Y may be X
  GradientKind gradient = GradientKind::kMissing;
  const ArgumentSpec<std::string>* ignored = nullptr;  // an argument in old nets, ignored
};

// Which inputs the output of a binary operator may overwrite in place.
enum class BinaryInplace { kNone, kFirst, kEither };

// An operator y[i] = Function(a[i], b[i]), with broadcasting, for the element types Ts.
template <class Function, class... Ts>
struct BinaryRow {
  const char* type;
  const char* doc;
  BinaryInplace inplace = BinaryInplace::kNone;
  GradientKind gradient = GradientKind::kMissing;
};

// A plain value that holds rows. No two rows may have the same type, that is, the same function and
// element types.
template <class... Rows>
struct FunctionTable : Rows... {
  // Calls visit(row) for each row, in order.
  template <class Visit>
  constexpr void ForEach(const Visit& visit) const {
    (visit(static_cast<const Rows&>(*this)), ...);
  }
};
template <class... Rows>
FunctionTable(Rows...) -> FunctionTable<Rows...>;

}  // namespace caffe2rt
