#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/simd_fma.h"

namespace caffe2rt::simd_test {
namespace {

CAFFE2RT_SIMD void AddOne(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1;
}

template <class T>
struct MultiplyBy {
  T factor;
  CAFFE2RT_SIMD_INLINE void operator()(const T* x, int64_t n, T* y) const {
    const T by = factor;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = by * x[i];
  }
};

#if CAFFE2RT_SIMD_VERSIONS && !defined(__clang__)
// Optimized as kernels are, also where tests are not.
__attribute__((optimize("O3"))) CAFFE2RT_SIMD_FMA void AddMultiple(float factor, const float* x,
                                                                   int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}
#endif

std::vector<float> Count(int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(SimdTest, GivesTheSameForEveryLengthOfARow) {
  for (const int64_t n : {0, 1, 7, 16, 33, 100}) {
    const std::vector<float> x = Count(n);
    std::vector<float> y(x.size());
    AddOne(x.data(), n, y.data());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], x[i] + 1);
    RunSimd(MultiplyBy<float>{3}, x.data(), n, y.data());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 3 * x[i]);
  }
}

#if CAFFE2RT_SIMD_VERSIONS && !defined(__clang__)
// Whatever the number of elements and the place in memory: a compiler gives the elements that are left over, and arrays
// that may overlap, loops of their own.
TEST(SimdTest, FusesMultiplyAddOfEveryElement) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "the processor does not fuse multiply-add";
  constexpr float kFactor = 1.0f / 3;
  for (int64_t n = 0; n <= 40; ++n) {
    for (const int64_t distance : {int64_t{100}, n, n + 1}) {
      std::vector<float> memory(static_cast<size_t>(distance + n));
      float* const x = memory.data();
      float* const y = x + distance;
      std::vector<float> want;
      for (int64_t i = 0; i < n; ++i) {
        x[i] = std::sqrt(static_cast<float>(i + 2));
        y[i] = std::sqrt(static_cast<float>(i + 7));
        want.push_back(std::fma(kFactor, x[i], y[i]));
      }
      AddMultiple(kFactor, x, n, y);
      EXPECT_EQ(std::vector<float>(y, y + n), want) << n << " " << distance;
    }
  }
}
#endif

TEST(SimdTest, RunsInPlace) {
  std::vector<float> x = Count(100);
  RunSimd(MultiplyBy<float>{2}, static_cast<const float*>(x.data()), int64_t{100}, x.data());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], 2 * static_cast<float>(i));
}

}  // namespace
}  // namespace caffe2rt::simd_test
