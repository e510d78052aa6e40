#pragma once
// Functions of two elements and the tables of their operators.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/function_table.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

// A function that sets kNeedsNonZero. For integers, the operator calls RequireNonZero with the
// divisors first.
template <class Function>
concept NeedsNonZero = requires {
  requires Function::kNeedsNonZero;
};

struct AddFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return math::WrappingAdd(a, b);
  }

  static constexpr BinaryGradientReads kGradientReads{};
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientA(T, T, T, T dy) const {
    return dy;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientB(T, T, T, T dy) const {
    return dy;
  }
};

struct SubFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return math::WrappingSubtract(a, b);
  }

  static constexpr BinaryGradientReads kGradientReads{};
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientA(T, T, T, T dy) const {
    return dy;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientB(T, T, T, T dy) const {
    return math::WrappingNegate(dy);
  }
};

struct MulFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return math::WrappingMultiply(a, b);
  }

  static constexpr BinaryGradientReads kGradientReads{.a = true, .b = true};
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientA(T, T b, T, T dy) const {
    return math::WrappingMultiply(dy, b);
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientB(T a, T, T, T dy) const {
    return math::WrappingMultiply(dy, a);
  }
};

// Integer division truncates towards 0. The smallest integer divided by -1 wraps around to itself.
// Division of an integer by 0 gives 0: CUDA kernels continue after RequireNonZero has reported the
// error.
struct DivFunction {
  static constexpr bool kNeedsNonZero = true;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      // A single comparison detects both b == 0 and b == -1.
      using U = std::make_unsigned_t<T>;
      if (static_cast<U>(static_cast<U>(b) + U{1}) <= U{1}) {
        return b == 0 ? T(0) : math::WrappingNegate(a);
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }

  static constexpr BinaryGradientReads kGradientReads{.b = true, .y = true};
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientA(T, T b, T, T dy) const {
    return (*this)(dy, b);
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE T GradientB(T, T b, T y, T dy) const {
    return (*this)(math::WrappingNegate(math::WrappingMultiply(dy, y)), b);
  }
};

struct LessFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqualFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct GreaterFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterEqualFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct EqualFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqualFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return a != b;
  }
};

struct AndFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct OrFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct XorFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

// If `a` is NaN, the result is NaN; a NaN in `b` is ignored.
struct MaxFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

struct MinFunction {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

template <class Function>
using ArithmeticRow = BinaryRow<Function, float, double, int32_t, int64_t>;
inline constexpr FunctionTable kArithmetic{
    ArithmeticRow<AddFunction>{
        .type = "Add",
        .doc = "Y = A + B.",
        .inplace = BinaryInplace::kEither,
        .traits = {.affine = AffineForm::kAdd, .onednn = {.role = OnednnRole::kAnyLayout}}},
    ArithmeticRow<SubFunction>{
        .type = "Sub",
        .doc = "Y = A - B.",
        .inplace = BinaryInplace::kEither,
        .traits = {.affine = AffineForm::kSub, .onednn = {.role = OnednnRole::kAnyLayout}}},
    ArithmeticRow<MulFunction>{
        .type = "Mul",
        .doc = "Y = A * B.",
        .inplace = BinaryInplace::kEither,
        .traits = {.affine = AffineForm::kMul, .onednn = {.role = OnednnRole::kAnyLayout}}},
    ArithmeticRow<DivFunction>{.type = "Div",
                               .doc = "Y = A / B; integers truncate towards 0.",
                               .inplace = BinaryInplace::kFirst,
                               .traits = {.affine = AffineForm::kDiv}},
};

template <class Function>
using ComparisonRow = BinaryRow<Function, float, double, int32_t, int64_t, bool>;
inline constexpr FunctionTable kComparisons{
    ComparisonRow<LessFunction>{
        .type = "LT", .doc = "Y = A < B.", .gradient = GradientKind::kUndefined},
    ComparisonRow<LessEqualFunction>{
        .type = "LE", .doc = "Y = A <= B.", .gradient = GradientKind::kUndefined},
    ComparisonRow<GreaterFunction>{
        .type = "GT", .doc = "Y = A > B.", .gradient = GradientKind::kUndefined},
    ComparisonRow<GreaterEqualFunction>{
        .type = "GE", .doc = "Y = A >= B.", .gradient = GradientKind::kUndefined},
    ComparisonRow<EqualFunction>{
        .type = "EQ", .doc = "Y = A == B.", .gradient = GradientKind::kUndefined},
    ComparisonRow<NotEqualFunction>{
        .type = "NE", .doc = "Y = A != B.", .gradient = GradientKind::kUndefined},
};

template <class Function>
using BoolRow = BinaryRow<Function, bool>;
template <class Function>
using BitwiseRow = BinaryRow<Function, bool, int32_t, int64_t, int8_t, int16_t, uint8_t, uint16_t>;
inline constexpr FunctionTable kLogic{
    BoolRow<AndFunction>{.type = "And",
                         .doc = "Y = A and B.",
                         .inplace = BinaryInplace::kFirst,
                         .gradient = GradientKind::kUndefined},
    BoolRow<OrFunction>{.type = "Or",
                        .doc = "Y = A or B.",
                        .inplace = BinaryInplace::kFirst,
                        .gradient = GradientKind::kUndefined},
    BoolRow<XorFunction>{.type = "Xor",
                         .doc = "Y = A or B, not both.",
                         .inplace = BinaryInplace::kFirst,
                         .gradient = GradientKind::kUndefined},
    BitwiseRow<AndFunction>{.type = "BitwiseAnd",
                            .doc = "Y = A & B, bit by bit.",
                            .inplace = BinaryInplace::kFirst,
                            .gradient = GradientKind::kUndefined,
                            .traits = {.family = OperatorFamily::kOther}},
    BitwiseRow<OrFunction>{.type = "BitwiseOr",
                           .doc = "Y = A | B, bit by bit.",
                           .inplace = BinaryInplace::kFirst,
                           .gradient = GradientKind::kUndefined,
                           .traits = {.family = OperatorFamily::kOther}},
    BitwiseRow<XorFunction>{.type = "BitwiseXor",
                            .doc = "Y = A ^ B, bit by bit.",
                            .inplace = BinaryInplace::kFirst,
                            .gradient = GradientKind::kUndefined,
                            .traits = {.family = OperatorFamily::kOther}},
};

}  // namespace caffe2rt
