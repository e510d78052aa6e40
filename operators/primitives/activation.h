#pragma once
// Activations that fused operators apply to their results, on the calling thread.
//
//   const Activation swish = Swish();
//   FinishRows(bias, swish, m, n, y, n);                     // y = swish(y + bias)
//
// operators/common/fused_activation.h reads an activation from the arguments of an operator.

#include <cstdint>
#include <type_traits>
#include <variant>

#include "operators/primitives/activation_functions.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct NoActivation {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x; }
};

namespace internal {
template <class Table>
struct FunctionsOf;
template <class... Rows>
struct FunctionsOf<FunctionTable<Rows...>> {
  using Variant = std::variant<NoActivation, typename Rows::ElementFunction...>;
};
}  // namespace internal

// None, or a function of kActivations with its arguments.
using Activation = internal::FunctionsOf<std::remove_const_t<decltype(kActivations)>>::Variant;

// Sets the bounds of the results and returns true if they are all that the activation does:
// y = min(max(y, lowest), highest) for none, Relu, ReluN and Clip.
bool FindBounds(const Activation& activation, float* lowest, float* highest);

// y [m, n] = activation(y + bias), where the rows of y are `ldy` elements apart and `bias` has n
// elements, or is null. A value does not depend on its position or on the sizes.
void FinishRows(const float* bias, const Activation& activation, int64_t m, int64_t n, float* y,
                int64_t ldy);

}  // namespace caffe2rt
#pragma GCC visibility pop
