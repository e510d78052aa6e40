#include "caffe2_core/base/float_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace caffe2rt::float_index_test {
namespace {

template <class Float>
class ClampedIndexTest : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ClampedIndexTest, FloatTypes);

TYPED_TEST(ClampedIndexTest, RoundsTowardZero) {
  EXPECT_EQ(ClampedIndex(TypeParam{2.9f}, 5), 2);
  EXPECT_EQ(ClampedIndex(TypeParam{0.5f}, 5), 0);
  EXPECT_EQ(ClampedIndex(TypeParam{5}, 5), 5);
}

TYPED_TEST(ClampedIndexTest, StaysBetweenZeroAndTheMost) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(ClampedIndex(TypeParam{-1}, 5), 0);
  EXPECT_EQ(ClampedIndex(-Limits::infinity(), 5), 0);
  EXPECT_EQ(ClampedIndex(Limits::quiet_NaN(), 5), 0);
  EXPECT_EQ(ClampedIndex(TypeParam{7}, 5), 5);
  EXPECT_EQ(ClampedIndex(Limits::max(), 5), 5);
  EXPECT_EQ(ClampedIndex(Limits::infinity(), 5), 5);
  EXPECT_EQ(ClampedIndex(Limits::infinity(), INT64_MAX), INT64_MAX);
}

// The most is not a float: it is rounded up to 2^24 + 2, above the number.
TEST(ClampedIndexOfFloatTest, ObservesAMostThatIsRounded) {
  constexpr int64_t kMost = (int64_t{1} << 25) - 1;
  EXPECT_EQ(ClampedIndex(static_cast<float>(1 << 25), kMost), kMost);
  EXPECT_EQ(ClampedIndex(0x1p62f, INT64_MAX), int64_t{1} << 62);
}

}  // namespace
}  // namespace caffe2rt::float_index_test
