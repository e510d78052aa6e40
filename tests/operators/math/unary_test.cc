#include "operators/math/unary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::math::unary_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

using Values = std::vector<float>;

// Returns the y that f(n, x, y, context) computes.
template <class F>
Values Apply(Values x, F f) {
  CPUContext context;
  Values y(x.size());
  f(static_cast<int64_t>(x.size()), x.data(), y.data(), &context);
  return y;
}

TEST(UnaryTest, ComputesEachFunction) {
  const auto near = [](float v) { return FloatNear(v, 1e-6f); };
  EXPECT_THAT(Apply({0, 1}, Exp<float, CPUContext>), ElementsAre(near(1), near(2.7182817f)));
  EXPECT_THAT(Apply({1}, Log<float, CPUContext>), ElementsAre(near(0)));
  EXPECT_THAT(Apply({4}, Sqrt<float, CPUContext>), ElementsAre(near(2)));
  EXPECT_THAT(Apply({4}, Rsqrt<float, CPUContext>), ElementsAre(near(0.5f)));
  EXPECT_THAT(Apply({4}, InvSqrt<float, CPUContext>), ElementsAre(near(0.5f)));
  EXPECT_THAT(Apply({-3, 2}, Abs<float, CPUContext>), ElementsAre(3, 2));
  EXPECT_THAT(Apply({-3, 2}, Sqr<float, CPUContext>), ElementsAre(9, 4));
  EXPECT_THAT(Apply({-3}, Cube<float, CPUContext>), ElementsAre(-27));
  EXPECT_THAT(Apply({-3, 0, 2}, Sign<float, CPUContext>), ElementsAre(-1, 0, 1));
  EXPECT_THAT(Apply({-4}, Inv<float, CPUContext>), ElementsAre(-0.25f));
  EXPECT_THAT(Apply({0}, CdfNorm<float, CPUContext>), ElementsAre(near(0.5f)));
  EXPECT_THAT(Apply({0.5f}, Erf<float, CPUContext>), ElementsAre(near(0.5204999f)));
}

TEST(UnaryTest, SetsPowersAndLimits) {
  CPUContext context;
  Values x(3), y(3);
  Set<float, CPUContext>(3, 2, x.data(), &context);
  Powx<float, CPUContext>(3, x.data(), 3.0f, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(8, 8, 8));
  Maximum<float, CPUContext>(3, 9.0f, y.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(9, 9, 9));
  Values s(1), c(1);
  x[0] = 0;
  SinCos<float, CPUContext>(1, x.data(), s.data(), c.data(), &context);
  EXPECT_THAT(s, ElementsAre(0));
  EXPECT_THAT(c, ElementsAre(1));
  x[0] = 3;
  InvStd<float, CPUContext>(1, 1.0f, x.data(), y.data(), &context);
  EXPECT_EQ(y[0], 0.5f);
}

TEST(UnaryTest, ScalesAndAddsByValueAndByPointerInEveryFormOfTemplateArguments) {
  CPUContext context;
  const Values x = {1, 2};
  Values y(2);
  const float two = 2;
  Scale<float, CPUContext>(2, 3, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(3, 6));
  Scale<float, float, CPUContext>(2, &two, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(2, 4));
  Scale<float, CPUContext>(2, &two, x.data(), y.data(), &context);
  Scale(2, 2.0f, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(2, 4));
  Axpy<float, CPUContext>(2, 1, x.data(), y.data(), &context);
  Axpy<float, CPUContext>(2, &two, x.data(), y.data(), &context);
  Axpy(2, -1.0f, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(4, 8));
  Axpby<float, CPUContext>(2, 1, x.data(), 0.5f, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(3, 6));
}

// The product and the sum have the type of the factor; only the result is rounded to the elements'.
TEST(UnaryTest, FactorsMayHaveAnotherTypeThanTheElements) {
  CPUContext context;
  const std::vector<int32_t> x = {3, 5};
  std::vector<int32_t> y(2);
  const float half = 0.5f;
  Scale(2, half, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 2));
  Scale<float, int32_t, CPUContext>(2, &half, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 2));
  y = {10, 10};
  Axpy(2, half, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(11, 12));
  Axpy<float, int32_t, CPUContext>(2, &half, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(12, 14));
  Axpby(2, half, x.data(), half, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(7, 9));
}

}  // namespace
}  // namespace caffe2rt::math::unary_test
