#include "caffe2_core/base/checked_math.h"

#include <gtest/gtest.h>

#include <vector>

namespace caffe2rt::checked_math_test {
namespace {

using Dims = std::vector<int64_t>;

TEST(CheckedMathTest, MultipliesAndAddsWhatFits) {
  EXPECT_EQ(CheckedMultiply<int64_t>(3, 4), 12);
  EXPECT_EQ(CheckedMultiply<int64_t>(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(CheckedAdd<int64_t>(INT64_MAX - 1, 1), INT64_MAX);
}

TEST(CheckedMathTest, OverflowThrows) {
  EXPECT_THROW((void)CheckedMultiply<int64_t>(INT64_MAX, 2), EnforceNotMet);
  EXPECT_THROW((void)CheckedMultiply<size_t>(SIZE_MAX / 2 + 1, 2), EnforceNotMet);
  EXPECT_THROW((void)CheckedMultiply<int64_t>(-1, 2), EnforceNotMet);
  EXPECT_THROW((void)CheckedAdd<int64_t>(INT64_MAX, 1), EnforceNotMet);
}

TEST(CheckedMathTest, ProductOfNoDimensionsIsOne) {
  EXPECT_EQ(CheckedProduct(Dims{}), 1);
  EXPECT_EQ(CheckedProduct(Dims{2, 3, 4}), 24);
  EXPECT_EQ(CheckedProduct(Dims{2, 0, 4}), 0);
}

TEST(CheckedMathTest, ZeroDoesNotHideAnAbsurdShape) {
  EXPECT_THROW((void)CheckedProduct(Dims{INT64_MAX, INT64_MAX, 0}), EnforceNotMet);
  EXPECT_THROW((void)CheckedProduct(Dims{0, INT64_MAX, 4}), EnforceNotMet);
}

TEST(CheckedMathTest, NegativeDimensionThrows) {
  EXPECT_THROW((void)CheckedProduct(Dims{2, -1}), EnforceNotMet);
}

TEST(CheckedMathTest, CastRejectsValuesOutOfRange) {
  EXPECT_EQ(CheckedCast<int8_t>(127), 127);
  EXPECT_THROW((void)CheckedCast<int8_t>(128), EnforceNotMet);
  EXPECT_THROW((void)CheckedCast<uint32_t>(int64_t{-1}), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::checked_math_test
