#include "operators/primitives/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace caffe2rt::math::random_test {
namespace {

// The values that Caffe2 generates for seed 1.
TEST(RandomTest, UniformFloatsFollowTheSeed) {
  Generator generator(1);
  std::vector<float> y(3);
  FillUniform(generator, y.size(), 0.0f, 1.0f, y.data());
  EXPECT_FLOAT_EQ(y[0], 0.7576316f);
  EXPECT_FLOAT_EQ(y[1], 0.2793109f);
  EXPECT_FLOAT_EQ(y[2], 0.4030693f);
}

TEST(RandomTest, NormalValuesComeInPairsAndAnOddOneIsCutOff) {
  Generator three(1), four(1);
  std::vector<float> y(3), z(4);
  FillNormal(three, y.size(), 0.0f, 1.0f, y.data());
  FillNormal(four, z.size(), 0.0f, 1.0f, z.data());
  EXPECT_FLOAT_EQ(y[0], 0.03879548f);
  EXPECT_FLOAT_EQ(y[1], -0.80844897f);
  EXPECT_TRUE(std::equal(y.begin(), y.end(), z.begin()));
  EXPECT_EQ(three, four);
}

TEST(RandomTest, IntegersReachBothEnds) {
  Generator generator(5);
  std::vector<int32_t> y(1000);
  FillUniform(generator, y.size(), -2, 2, y.data());
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  EXPECT_EQ(*low, -2);
  EXPECT_EQ(*high, 2);
}

TEST(RandomTest, DrawsBelowBoundsOfMoreThan32Bits) {
  Generator generator(5);
  const uint64_t bound = uint64_t{1} << 40;
  uint64_t largest = 0;
  for (int i = 0; i < 100; ++i) largest = std::max(largest, UniformBelow(generator, bound));
  EXPECT_LT(largest, bound);
  EXPECT_GT(largest, bound / 2);
}

}  // namespace
}  // namespace caffe2rt::math::random_test
