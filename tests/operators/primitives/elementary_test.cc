#include "operators/primitives/elementary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "operators/primitives/wrapping.h"

namespace caffe2rt::elementary_test {
namespace {

struct Function {
  const char* name;
  float (*fast)(float);
  double (*exact)(double);
};
const Function kFunctions[] = {
    {"Exp", [](float x) { return math::Exp(x); }, [](double x) { return std::exp(x); }},
    {"Log", [](float x) { return math::Log(x); }, [](double x) { return std::log(x); }},
    {"Tanh", [](float x) { return math::Tanh(x); }, [](double x) { return std::tanh(x); }},
    {"Logistic", [](float x) { return math::Logistic(x); },
     [](double x) { return 1 / (1 + std::exp(-x)); }},
};

class ElementaryTest : public testing::TestWithParam<Function> {};

// Tests bit patterns over the whole range, including NaN and infinities.
TEST_P(ElementaryTest, StaysWithinTwoUnitsOfTheLastPlace) {
  const Function& f = GetParam();
  int reported = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32) && reported < 5; bits += 4099) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float got = f.fast(x);
    const double want = f.exact(x);
    const float rounded = static_cast<float>(want);
    bool near = false;
    if (std::isnan(rounded) || std::isinf(rounded)) {
      near = std::isnan(rounded) ? std::isnan(got) : got == rounded;
    } else {
      const bool normal = std::abs(want) >= std::numeric_limits<float>::min();
      near = std::abs(got - want) <= (normal ? 2.4e-7 * std::abs(want) : 1e-38);
    }
    if (near) continue;
    ++reported;
    ADD_FAILURE() << f.name << "(" << x << ") is " << got << ", want " << want;
  }
}
INSTANTIATE_TEST_SUITE_P(All, ElementaryTest, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

TEST(ErfTest, StaysWithinItsErrorBound) {
  double largest = 0;
  for (float x = -6; x <= 6; x += 1.0f / 16384) {
    largest = std::max(largest, std::abs(math::Erf(x) - std::erf(double{x})));
  }
  EXPECT_LE(largest, 5e-7);
  // Near 0 the error is relative.
  for (float x = 1e-30f; x < 0.5f; x *= 1.37f) {
    EXPECT_NEAR(math::Erf(x) / std::erf(double{x}), 1, 1e-6) << x;
    EXPECT_EQ(math::Erf(-x), -math::Erf(x)) << x;
  }
}

TEST(ErfTest, ReturnsTheLimitsForLargeValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {3.92f, 4.0f, 1e30f, kInfinity}) {
    EXPECT_EQ(math::Erf(x), 1) << x;
    EXPECT_EQ(math::Erf(-x), -1) << x;
  }
  EXPECT_EQ(math::Erf(0.0f), 0);
  EXPECT_TRUE(std::signbit(math::Erf(-0.0f)));
  EXPECT_TRUE(std::isnan(math::Erf(std::numeric_limits<float>::quiet_NaN())));
}

TEST(WrappingTest, WrapsIntegersAndLeavesFloatsAlone) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(math::WrappingAdd(kMax, 1), kMin);
  EXPECT_EQ(math::WrappingSubtract(kMin, 1), kMax);
  EXPECT_EQ(math::WrappingMultiply(kMax, 2), -2);
  EXPECT_EQ(math::WrappingNegate(kMin), kMin);
  EXPECT_EQ(math::WrappingNegate(1.5), -1.5);
  EXPECT_EQ(math::WrappingAdd(int64_t{1} << 40, int64_t{2}), (int64_t{1} << 40) + 2);
}

}  // namespace
}  // namespace caffe2rt::elementary_test
