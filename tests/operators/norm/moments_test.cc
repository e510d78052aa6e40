#include "operators/norm/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "operators/primitives/lanes.h"

namespace caffe2rt::moments_test {
namespace {

TEST(MomentsTest, KeepsTheVarianceOfALongRunWithALargeMean) {
  // 100000 numbers that are 1000 - 1 or 1000 + 1: the mean is 1000, the variance is 1.
  std::vector<float> x(100000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 999.0f : 1001.0f;
  const Moments moments = MomentsOf(x.data(), static_cast<int64_t>(x.size()));
  EXPECT_NEAR(moments.mean, 1000, 1e-3);
  EXPECT_NEAR(moments.variance(), 1, 1e-4);
}

TEST(MomentsTest, OfNothingIsZero) {
  EXPECT_EQ(MomentsOf(static_cast<const float*>(nullptr), 0).variance(), 0);
}

TEST(MomentsTest, MergesAsIfSeenTogether) {
  const double all[] = {1, 2, 3, 10, 20};
  Moments merged = MomentsOf(all, 3);
  merged.Merge(MomentsOf(all + 3, 2));
  EXPECT_DOUBLE_EQ(merged.mean, 7.2);
  EXPECT_NEAR(merged.variance(), MomentsOf(all, 5).variance(), 1e-12);
}

TEST(MomentsTest, OfColumnsEqualThoseOfRuns) {
  constexpr int kRows = 100, kColumns = 19;
  std::vector<float> matrix(kRows * kColumns), turned(kRows * kColumns), scratch(2 * kColumns);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      matrix[r * kColumns + c] = turned[c * kRows + r] = std::sin(3.0f * r + c) + c;
    }
  }
  std::vector<Moments> columns(kColumns);
  ColumnMoments(matrix.data(), kRows, kColumns, scratch.data(), columns.data());
  for (int c = 0; c < kColumns; ++c) {
    const Moments run = MomentsOf(turned.data() + c * kRows, kRows);
    EXPECT_NEAR(columns[c].mean, run.mean, 1e-5);
    EXPECT_NEAR(columns[c].variance(), run.variance(), 1e-5);
  }
}

TEST(LanesTest, ExponentialIsTheLibrarysOverItsWholeRange) {
  for (float x = -90; x < 89; x += 0.0137f) {
    math::Lanes v;
    math::Fill(x, v);
    math::Exp(v);
    const double want = std::exp(static_cast<double>(x));
    if (x < -87.336548f) {
      EXPECT_EQ(v[3], 0) << x;
    } else if (want < 3.4e38) {
      EXPECT_NEAR(v[3] / want, 1, 2.5e-7) << x;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::moments_test
