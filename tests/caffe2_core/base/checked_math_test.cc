#include "caffe2_core/base/checked_math.h"

#include <gtest/gtest.h>

#include <string>
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

TEST(CheckedMathTest, AcceptsWhatIsNextToEachBound) {
  EXPECT_EQ(CheckedMultiply<int64_t>(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW((void)CheckedMultiply<int64_t>(int64_t{1} << 32, int64_t{1} << 31), EnforceNotMet);
  EXPECT_EQ(CheckedMultiply<size_t>(SIZE_MAX / 2, 2), SIZE_MAX - 1);
  EXPECT_EQ(CheckedMultiply<size_t>(SIZE_MAX, 0), 0u);
  EXPECT_EQ(CheckedMultiply<int32_t>(46340, 46340), 46340 * 46340);
  EXPECT_THROW((void)CheckedMultiply<int32_t>(46341, 46341), EnforceNotMet);
  EXPECT_THROW((void)CheckedMultiply<int64_t>(0, -1), EnforceNotMet);
  EXPECT_THROW((void)CheckedMultiply<int64_t>(-2, -3), EnforceNotMet);
  EXPECT_EQ(CheckedAdd<size_t>(SIZE_MAX - 5, 5), SIZE_MAX);
  EXPECT_THROW((void)CheckedAdd<size_t>(SIZE_MAX - 5, 6), EnforceNotMet);
  EXPECT_EQ(CheckedAdd<int64_t>(-5, 3), -2);
  EXPECT_THROW((void)CheckedAdd<int64_t>(INT64_MIN, -1), EnforceNotMet);
  EXPECT_EQ(CheckedProduct(Dims{INT64_MAX, 1, 0, 1}), 0);
  EXPECT_EQ(CheckedProduct(Dims{INT64_MAX, 1}), INT64_MAX);
  EXPECT_THROW((void)CheckedProduct(Dims{INT64_MAX, 2}), EnforceNotMet);
  EXPECT_THROW((void)CheckedProduct(Dims{0, -1}), EnforceNotMet);
  EXPECT_EQ(CheckedProduct(std::vector<int>{65536, 65536}), int64_t{1} << 32);
  EXPECT_EQ(CheckedCast<int8_t>(-128), -128);
  EXPECT_THROW((void)CheckedCast<int8_t>(-129), EnforceNotMet);
  EXPECT_EQ(CheckedCast<int>(uint64_t{INT32_MAX}), INT32_MAX);
  EXPECT_THROW((void)CheckedCast<int>(uint64_t{INT32_MAX} + 1), EnforceNotMet);
  EXPECT_THROW((void)CheckedCast<int64_t>(UINT64_MAX), EnforceNotMet);
}

TEST(CheckedMathTest, ErrorsStateTheNumbers) {
  const auto message = [](auto function) {
    try {
      function();
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return std::string("did not throw");
  };
  EXPECT_EQ(message([] { (void)CheckedMultiply<int32_t>(65536, 65537); }),
            "size overflow: 65536 * 65537 does not fit into 32 bits");
  EXPECT_EQ(message([] { (void)CheckedAdd<size_t>(SIZE_MAX, 1); }),
            "size overflow: 18446744073709551615 + 1 does not fit into 64 bits");
  EXPECT_EQ(message([] { (void)CheckedCast<int8_t>(200, "axis"); }),
            "axis is 200, want at most 127 and at least -128");
  EXPECT_EQ(message([] {
              (void)CheckedProduct(Dims{2, -3});
            }),
            "dimension of a shape, want at least 0 (got -3, want at least 0)");
}

}  // namespace
}  // namespace caffe2rt::checked_math_test
