#include "operators/primitives/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace caffe2rt::math::philox_test {
namespace {

using testing::ElementsAre;

// The test vectors that the algorithm's authors published.
TEST(PhiloxTest, GivesTheKnownAnswers) {
  EXPECT_THAT(Philox4x32({{0, 0, 0, 0}}, 0, 0).word,
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(Philox4x32({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u).word,
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
}

TEST(PhiloxTest, CountsInSixtyFourBits) {
  EXPECT_THAT(Philox(7, uint64_t{1} << 32).word,
              ElementsAre(testing::Ne(Philox(7, 0).word[0]), testing::_, testing::_, testing::_));
  const PhiloxBlock high = Philox4x32({{5, 1, 0, 0}}, 7, 0);
  EXPECT_THAT(Philox(7, (uint64_t{1} << 32) + 5).word, testing::ElementsAreArray(high.word));
}

TEST(PhiloxTest, UnitFloatsFillTheHalfOpenInterval) {
  EXPECT_EQ(UnitFloat(0), 0.0f);
  EXPECT_EQ(UnitFloat(0x80000000u), 0.5f);
  EXPECT_EQ(UnitFloat(0xffffffffu), 1.0f - 0x1p-24f);
}

// Checks the moments of 2 * 10^5 numbers. The bounds are five standard errors.
TEST(PhiloxTest, NormalPairsHaveTheMomentsOfTheNormalDistribution) {
  constexpr int kPairs = 100000;
  double sum = 0, squares = 0, cubes = 0, products = 0;
  for (int i = 0; i < kPairs; ++i) {
    const PhiloxBlock block = Philox(1, static_cast<uint64_t>(i));
    float a, b;
    NormalPair(block.word[0], block.word[1], &a, &b);
    ASSERT_TRUE(std::isfinite(a) && std::isfinite(b));
    for (const double x : {a, b}) sum += x, squares += x * x, cubes += x * x * x;
    products += static_cast<double>(a) * b;
  }
  const double n = 2.0 * kPairs;
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(cubes / n, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(products / kPairs, 0, 5 / std::sqrt(kPairs));
}

TEST(PhiloxTest, NormalPairsStayFiniteAtTheEnds) {
  for (const uint32_t word : {0u, 0xffffffffu}) {
    float a, b;
    NormalPair(word, word, &a, &b);
    EXPECT_TRUE(std::isfinite(a) && std::isfinite(b)) << word;
  }
}

}  // namespace
}  // namespace caffe2rt::math::philox_test
