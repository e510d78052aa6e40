#pragma once
// Sum, Mean, Max, Min: the CPU loops, the declarations for CUDA (nary.cu), the table of the
// operators, and the functions of their gradients.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/primitives/function_table.h"
#include "operators/elementwise/map.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

enum class NaryKind { kSum, kMean, kMax, kMin };

// The function that combines two inputs.
template <NaryKind kKind>
using NaryFunction =
    std::conditional_t<kKind == NaryKind::kMax, MaxFunction,
                       std::conditional_t<kKind == NaryKind::kMin, MinFunction, AddFunction>>;

// An operator for the element types Ts.
template <NaryKind kKind, class... Ts>
struct NaryRow {
  const char* type;
  const char* doc;
  OperatorTraits traits = {};  // the family is kElementwise if it is not stated
};

inline constexpr FunctionTable kNary{
    NaryRow<NaryKind::kSum, float, double, int32_t, int64_t>{
        .type = "Sum",
        .doc = "Y = X0 + X1 + ..., without broadcasting.",
        .traits = {.same_shape = true,
                   .sums_inputs = true,
                   .passes_on = AlwaysPassesOn,
                   .onednn = {.role = OnednnRole::kAnyLayout, .same_rank = true}}},
    NaryRow<NaryKind::kMean, float, double>{
        .type = "Mean",
        .doc = "Y = the mean of X0, X1, ....",
        .traits = {.onednn = {.role = OnednnRole::kAnyLayout, .same_rank = true}}},
    NaryRow<NaryKind::kMax, float>{
        .type = "Max",
        .doc = "Y = the largest of X0, X1, ....",
        .traits = {.onednn = {.role = OnednnRole::kAnyLayout, .same_rank = true}}},
    NaryRow<NaryKind::kMin, float>{.type = "Min", .doc = "Y = the smallest of X0, X1, ...."},
};

template <class T>
struct TimesFactor {
  T factor;
  CAFFE2RT_SIMD_INLINE T operator()(T x) const { return x * factor; }
};

// The gradient of an input x of Max or Min with the result y.
struct ChosenGradient {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x, T y, T dy) const {
    return x == y ? dy : T(0);
  }
};

// y = f(... f(f(inputs[0], inputs[1]), inputs[2]) ...). y may equal inputs[0]. REQUIRES: count >=
// 1.
template <class T, class Function>
void Combine(CPUContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
             const Function& function) {
  // A block stays in the first-level cache while all inputs are combined.
  constexpr int64_t kBlock = 4096 / sizeof(T);
  ParallelElements(n, static_cast<int64_t>(count), [&](int64_t first, int64_t last) {
    for (int64_t start = first; start < last; start += kBlock) {
      const int64_t length = last - start < kBlock ? last - start : kBlock;
      const T* sum = static_cast<const T*>(inputs[0]) + start;
      for (size_t k = 1; k < count; ++k) {
        Zip(context, length, sum, static_cast<const T*>(inputs[k]) + start, y + start, function);
        sum = y + start;
      }
    }
  });
}
template <class T, class Function>
void Combine(CUDAContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
             const Function& function);

// The same, with each result multiplied by `factor`.
template <class T, class Function>
void CombineAndScale(CPUContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
                     const Function& function, T factor) {
  Combine(context, inputs, count, n, y, function);
  Map(context, n, y, y, TimesFactor<T>{factor});
}
template <class T, class Function>
void CombineAndScale(CUDAContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
                     const Function& function, T factor);

}  // namespace caffe2rt
