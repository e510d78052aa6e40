#pragma once
// Tables of element functions: an operator is one row, and every device walks the same table.
//
// An element function is a struct of plain numbers with a call operator for each of its element
// types; the result's type is the output's. Its arguments are declared beside the members that they
// initialise, in the same order, and its derivative stands beside its value:
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
// The derivative is optional; no operator uses it yet, tests compare it with the function. A
// function of two elements will have two, DerivativeA(a, b, y) and DerivativeB(a, b, y).
//
// Three files walk a table: <stem>.cc registers schemas, gradient makers and CPU operators,
// <stem>_cuda.cc the CUDA operators, <stem>.cu instantiates their kernels (map.cuh). This header is
// light enough for .cu files.

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

// What happens when the gradient of an operator is asked for.
enum class GradientKind {
  kMissing,         // no maker is registered: an error that names the operator
  kZero,            // the output is piecewise constant: the backward pass ends here
  kUndefined,       // an error: the function is not differentiable
  kNotImplemented,  // an error: the derivative exists, but Caffe2 has no gradient either
};

// An operator y[i] = Function(x[i]) for elements of the types Ts.
template <class Function, class... Ts>
struct UnaryRow {
  const char* type;  // of the operator
  const char* doc;
  bool inplace = false;  // whether Y may be X
  GradientKind gradient = GradientKind::kMissing;
  const ArgumentSpec<std::string>* ignored = nullptr;  // an argument of old nets without effect
};

// Which inputs of a binary operator its output may be.
enum class BinaryInplace { kNone, kFirst, kEither };

// An operator y[i] = Function(a[i], b[i]), with broadcasting, for elements of the types Ts.
template <class Function, class... Ts>
struct BinaryRow {
  const char* type;
  const char* doc;
  BinaryInplace inplace = BinaryInplace::kNone;
  GradientKind gradient = GradientKind::kMissing;
};

// A plain value that holds rows of different types, which must differ in function or elements.
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
