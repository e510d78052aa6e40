#include "operators/int8/requantization.h"

#include <random>

#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::requantization_test {
namespace {

using namespace test;  // used throughout this file

uint8_t Requantized(int32_t sum, float factor, int zero_point, int low = 0) {
  uint8_t y = 0;
  Requantize(&sum, 1, MakeRequantization(factor, zero_point, low, "factor"), &y);
  return y;
}

TEST(RequantizationTest, RoundsHalvesAwayFromZero) {
  // A factor of 1/4 shifts by one bit after the product: 2 / 4, 6 / 4, 10 / 4.
  EXPECT_EQ(Requantized(2, 0.25f, 100), 101);
  EXPECT_EQ(Requantized(-2, 0.25f, 100), 99);
  EXPECT_EQ(Requantized(6, 0.25f, 100), 102);
  EXPECT_EQ(Requantized(-6, 0.25f, 100), 98);
  EXPECT_EQ(Requantized(5, 0.25f, 100), 102);  // the product of 31 bits is 2.5, rounded to 3
  EXPECT_EQ(Requantized(-5, 0.25f, 100), 99);  // -2.5, rounded to -2
}

TEST(RequantizationTest, ClipsToTheRangeOfTheOutput) {
  EXPECT_EQ(Requantized(INT32_MAX, 0.99f, 255), 255);
  EXPECT_EQ(Requantized(INT32_MIN, 0.99f, 0), 0);
  EXPECT_EQ(Requantized(-1000, 0.5f, 128, 128), 128);
  EXPECT_EQ(Requantized(1000, 0.0f, 7), 7);
  EXPECT_EQ(Requantized(INT32_MAX, 1e-30f, 7), 7);
}

TEST(RequantizationTest, AgreesWithExactArithmetic) {
  std::mt19937 generator(5);
  for (int i = 0; i < 20000; ++i) {
    const int bits = static_cast<int>(generator() % 31);
    const int32_t sum = static_cast<int32_t>(generator()) >> bits;
    const float factor = std::ldexp(0.5f + static_cast<float>(generator() >> 9) * 0x1p-24f,
                                    -static_cast<int>(generator() % 33));
    const int zero_point = static_cast<int>(generator() % 256);
    ASSERT_EQ(Requantized(sum, factor, zero_point), ExpectedElement(sum, factor, zero_point))
        << sum << " * " << factor << " + " << zero_point;
  }
}

TEST(RequantizationTest, RejectsFactorsThatAreNotBelowOne) {
  for (const float factor : {1.0f, 2.0f, -0.5f, NAN, INFINITY}) {
    ExpectThrows([&] { (void)MakeRequantization(factor, 0, 0, "factor"); },
                 "want below 1: set a larger Y_scale");
  }
}

}  // namespace
}  // namespace caffe2rt::requantization_test
