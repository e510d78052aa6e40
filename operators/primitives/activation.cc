#include "operators/primitives/activation.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace caffe2rt {
namespace {

// Elements that are computed together. A rest is padded to as many, so that every value is computed by
// the same instructions.
constexpr int64_t kBlock = 16;

template <class Function, bool kHasBias>
struct RowsFinisher {
  Function function;

  CAFFE2RT_SIMD_INLINE void operator()(const float* bias, int64_t m, int64_t n, float* y,
                                       int64_t ldy) const {
    const Function f = function;  // the compiler knows that nothing writes to a local copy
    for (int64_t i = 0; i < m; ++i) Row(f, bias, n, y + i * ldy);
  }

 private:
  CAFFE2RT_SIMD_INLINE static void Block(const Function f, const float* bias, float* y) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < kBlock; ++i) y[i] = f(kHasBias ? y[i] + bias[i] : y[i]);
  }
  CAFFE2RT_SIMD_INLINE static void Row(const Function f, const float* bias, int64_t n, float* y) {
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) Block(f, kHasBias ? bias + i : nullptr, y + i);
    if (i == n) return;
    alignas(64) float rest[2][kBlock] = {};
    const size_t bytes = static_cast<size_t>(n - i) * sizeof(float);
    std::memcpy(rest[0], y + i, bytes);
    if (kHasBias) std::memcpy(rest[1], bias + i, bytes);
    Block(f, rest[1], rest[0]);
    std::memcpy(y + i, rest[0], bytes);
  }
};

// Calls use(f), where f is the function without branches that do not depend on the element. Compilers do
// not vectorize a loop with such a branch.
template <class Function, class Use>
void WithoutBranches(const Function& function, const Use& use) {
  use(function);
}
template <bool kFast>
struct GeluOf {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return Gelu{.fast = kFast}(x); }
};
template <class Use>
void WithoutBranches(const Gelu& function, const Use& use) {
  function.fast ? use(GeluOf<true>()) : use(GeluOf<false>());
}

// The bounds of a function. The template is for functions that do more than to bound.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  bool all = true;
};
template <class Function>
Bounds BoundsOf(const Function&) {
  return {.all = false};
}
Bounds BoundsOf(const NoActivation&) { return {}; }
Bounds BoundsOf(const Relu&) { return {.lowest = 0}; }
Bounds BoundsOf(const ReluN& f) { return {.lowest = 0, .highest = f.n}; }
Bounds BoundsOf(const Clip& f) { return {.lowest = f.min, .highest = f.max}; }

}  // namespace

bool FindBounds(const Activation& activation, float* lowest, float* highest) {
  const Bounds bounds = std::visit([](const auto& f) { return BoundsOf(f); }, activation);
  *lowest = bounds.lowest;
  *highest = bounds.highest;
  return bounds.all;
}

void FinishRows(const float* bias, const Activation& activation, int64_t m, int64_t n, float* y,
                int64_t ldy) {
  if (bias == nullptr && std::holds_alternative<NoActivation>(activation)) return;
  std::visit(
      [=](const auto& function) {
        WithoutBranches(function, [=]<class Function>(const Function& f) {
          if (bias != nullptr) {
            RunSimd(RowsFinisher<Function, true>{f}, bias, m, n, y, ldy);
          } else {
            RunSimd(RowsFinisher<Function, false>{f}, bias, m, n, y, ldy);
          }
        });
      },
      activation);
}

}  // namespace caffe2rt
