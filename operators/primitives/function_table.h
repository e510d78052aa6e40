#pragma once
// Tables of element functions. One row defines an operator for all devices.
//
// An element function is a struct of plain numbers with a call operator for each of its element
// types. The return type determines the element type of the output. The struct declares its
// arguments in kArguments, in the order of the members that they initialize, and may define its
// gradient:
//
//   struct LeakyRelu {
//     static constexpr std::tuple kArguments{
//         ArgumentSpec<float>{"alpha", 0.01f, "slope for x < 0"}};
//     float alpha;
//     CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? alpha * x : x; }
//
//     static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
//     // dx
//     CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
//       return y >= 0.0f ? dy : alpha * dy;
//     }
//   };
//   inline constexpr FunctionTable kActivations{
//       UnaryRow<LeakyRelu, float>{.type = "LeakyRelu", .doc = "...", .inplace = true,
//                                  .gradient_inplace = true}, ...};
//
// With a gradient, the row also defines the operator LeakyReluGradient, its schema, and the
// gradient maker of LeakyRelu. The parameters of Gradient are x or y (or both, x first) and then
// dy, in whatever order the operator has its inputs.
//
// A function of two elements defines GradientA(a, b, y, dy) and GradientB(a, b, y, dy), the
// gradients of its operands before they are summed over the broadcast dimensions. kGradientReads
// states on which of a, b and y they depend.
//
// Three files use a table: <stem>.cc registers schemas, gradient makers and CPU operators,
// <stem>_cuda.cc registers the CUDA operators, and <stem>.cu instantiates their kernels (map.cuh).
// This header includes no protobuf, so .cu files may include it.

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/operator_traits.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

template <class Function>
concept HasArguments = requires {
  Function::kArguments;
};

// The inputs of a gradient operator of a function of one element, in order. The names are those of
// Caffe2's gradient operators, which saved training nets use.
enum class GradientInputs { kXAndDy, kYAndDy, kDyAndX, kDyAndY, kXAndYAndDy };

template <class Function>
concept HasGradient = requires {
  Function::kGradientInputs;
};

template <class Function>
concept HasBinaryGradient = requires {
  Function::kGradientReads;
};

// The values on which the gradients of a function of two elements depend. Of the other operands,
// the gradient operator uses only the shapes.
struct BinaryGradientReads {
  bool a = false, b = false, y = false;
};

constexpr bool ReadsXAndY(GradientInputs inputs) { return inputs == GradientInputs::kXAndYAndDy; }
// The position of dY among the inputs, and of X or Y (of X if there are both).
constexpr int PlaceOfDy(GradientInputs inputs) {
  if (ReadsXAndY(inputs)) return 2;
  return inputs == GradientInputs::kXAndDy || inputs == GradientInputs::kYAndDy ? 1 : 0;
}
constexpr int PlaceOfValue(GradientInputs inputs) { return PlaceOfDy(inputs) == 0 ? 1 : 0; }

// The gradient of a function as a function itself.
template <class Function>
struct GradientOf {
  Function function;
  template <class... Ts>
  CAFFE2RT_SIMD_INLINE auto operator()(Ts... values) const {
    return function.Gradient(values...);
  }
};

template <class Function, class... Ts>
using ResultOf = std::decay_t<decltype(std::declval<const Function&>()(std::declval<Ts>()...))>;

// The gradient maker of an operator whose function has no gradient, and so the result of
// GetGradientForOp.
enum class GradientKind {
  kMissing,         // the row registers no maker; without one, asking for the gradient is an error
  kZero,            // the output is piecewise constant: the backward pass ends here
  kUndefined,       // an error: the function is not differentiable
  kNotImplemented,  // an error: the derivative exists, but Caffe2 has no gradient either
};

// An operator y[i] = Function(x[i]) for the element types Ts.
template <class Function, class... Ts>
struct UnaryRow {
  using ElementFunction = Function;

  const char* type;  // of the operator
  const char* doc;
  bool inplace = false;           // whether Y may be X
  bool gradient_inplace = false;  // whether the gradient operator's dX may be dY
  GradientKind gradient = GradientKind::kMissing;
  const ArgumentSpec<std::string>* ignored = nullptr;  // an argument in old nets, ignored
  OperatorTraits traits = {};  // besides those of the table (TraitsOfRow)
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
  OperatorTraits traits = {};  // the family is kElementwise if it is not stated
};

// The traits of a row: those that it states, and those of all rows of the table (`common`), of which it
// may state another family.
constexpr OperatorTraits TraitsOfRow(OperatorTraits traits, const OperatorTraits& common) {
  if (!traits.family) traits.family = common.family;
  traits.same_shape |= common.same_shape;
  traits.fused_activation |= common.fused_activation;
  return traits;
}

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
#pragma GCC visibility pop
