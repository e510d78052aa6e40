#include "caffe2_core/base/simd.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

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

TEST(SimdTest, RunsInPlace) {
  std::vector<float> x = Count(100);
  RunSimd(MultiplyBy<float>{2}, static_cast<const float*>(x.data()), int64_t{100}, x.data());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], 2 * static_cast<float>(i));
}

}  // namespace
}  // namespace caffe2rt::simd_test
