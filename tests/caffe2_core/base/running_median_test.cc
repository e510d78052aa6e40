#include "caffe2_core/base/running_median.h"

#include <gtest/gtest.h>

namespace caffe2rt::test::running_median_test {
namespace {

RunningMedian Of(const std::vector<float>& values) {
  RunningMedian median;
  for (const float value : values) median.Add(value);
  return median;
}

TEST(RunningMedianTest, IsExactForFewValues) {
  EXPECT_EQ(Of({}).Median(), 0);
  EXPECT_EQ(Of({3}).Median(), 3);
  EXPECT_EQ(Of({9, 1, 5}).Median(), 5);
  EXPECT_EQ(Of({9, 1, 5, 6}).Median(), 5.5f);
}

TEST(RunningMedianTest, IsWithin6PerMilleForManyValues) {
  // 1, 2, ..., 100001 in a scattered order: 31 has no factor in common with the count. The median
  // is 50001.
  constexpr int64_t kCount = 100001;
  RunningMedian median;
  for (int64_t i = 0; i < kCount; ++i) median.Add(static_cast<float>(i * 31 % kCount + 1));
  EXPECT_EQ(median.count(), kCount);
  EXPECT_NEAR(median.Median(), 50001, 50001 * 0.006);
}

TEST(RunningMedianTest, IsTheMeanOfTheTwoInTheMiddleOfAnEvenNumberOfManyValues) {
  RunningMedian median;
  for (int i = 0; i < 1000; ++i) {
    median.Add(1);
    median.Add(4);
  }
  EXPECT_NEAR(median.Median(), 2.5f, 2.5f * 0.006);
  median.Add(4);
  EXPECT_NEAR(median.Median(), 4, 4 * 0.006);
}

TEST(RunningMedianTest, CountsValuesBeyondTheBinsAsTheNearest) {
  RunningMedian zeros, large;
  for (int i = 0; i < 2000; ++i) {
    zeros.Add(0);
    large.Add(1e30f);
  }
  EXPECT_NEAR(zeros.Median(), 0, 1e-8);
  EXPECT_NEAR(large.Median(), 0x1p30f, 0x1p30f * 0.006);
}

TEST(RunningMedianTest, IsExactUpToTheLastValueThatIsKept) {
  RunningMedian median;
  for (size_t i = 0; i < RunningMedian::kExactValues; ++i) median.Add(i < 500 ? 1.003f : 3.007f);
  EXPECT_EQ(median.Median(), (1.003f + 3.007f) / 2);
  median.Add(3.007f);
  EXPECT_NEAR(median.Median(), 3.007f, 3.007f * 0.006f);
  EXPECT_EQ(median.count(), 1001);
}

}  // namespace
}  // namespace caffe2rt::test::running_median_test
