#include "operators/primitives/activation.h"

#include <gtest/gtest.h>

#include <limits>

#include "operators/common/fused_activation.h"
#include "tests/support/activation_formulas.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::activation_test {
namespace {

using test::ActivationFormula;
using test::ActivationFormulas;
using test::RandomValues;

Activation ActivationOf(const ActivationFormula& formula) {
  const OperatorDef op = test::ParseOp("type: \"FCFusion\" " + formula.Text());
  return ReadActivation(ArgumentHelper(op));
}

TEST(ActivationTest, EveryFunctionHasAFormula) {
  kActivations.ForEach([](const auto& row) {
    EXPECT_TRUE(std::any_of(ActivationFormulas().begin(), ActivationFormulas().end(),
                            [&](const auto& formula) { return formula.name == row.type; }))
        << row.type;
  });
}

TEST(ActivationTest, ReturnsTheFormulaOfEachName) {
  for (const ActivationFormula& formula : ActivationFormulas()) {
    const Activation activation = ActivationOf(formula);
    for (const int64_t n : {1, 15, 16, 40}) {
      std::vector<float> y = RandomValues(3 * (n + 1), -5, 5), bias = RandomValues(n, -1, 1, 7);
      const std::vector<float> x = y;
      FinishRows(bias.data(), activation, 3, n, y.data(), n + 1);
      for (int64_t i = 0; i < 3 * (n + 1); ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t column = i % (n + 1);
        const double want = column == n
                                ? double{x[at]}
                                : formula.exact(double{x[at] + bias[static_cast<size_t>(column)]});
        EXPECT_NEAR(double{y[at]}, want, 3e-6) << formula.name << " of " << n << " at " << i;
      }
    }
  }
}

// A value in a whole block of 16, in the rest of a row, and alone.
TEST(ActivationTest, ValuesDoNotDependOnTheirPositions) {
  const std::vector<float> x = RandomValues(17, -5, 5);
  for (const ActivationFormula& formula : ActivationFormulas()) {
    const Activation activation = ActivationOf(formula);
    std::vector<float> whole = x;
    FinishRows(nullptr, activation, 1, 17, whole.data(), 17);
    for (size_t i = 0; i < x.size(); ++i) {
      float alone = x[i];
      FinishRows(nullptr, activation, 1, 1, &alone, 1);
      EXPECT_EQ(alone, whole[i]) << formula.name << " at " << i;
    }
  }
}

TEST(ActivationTest, KeepsNaN) {
  for (const ActivationFormula& formula : ActivationFormulas()) {
    if (formula.name == "ThresholdedRelu" || formula.name == "StumpFunc") continue;
    float y = std::numeric_limits<float>::quiet_NaN();
    FinishRows(nullptr, ActivationOf(formula), 1, 1, &y, 1);
    EXPECT_TRUE(std::isnan(y)) << formula.name;
  }
}

TEST(ActivationTest, FindsBoundsOfFunctionsThatOnlyBound) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    Activation activation;
    bool only_bounds;
    float lowest, highest;
  } kCases[] = {{NoActivation(), true, -infinity, infinity},
                {Relu(), true, 0, infinity},
                {ReluN{.n = 6}, true, 0, 6},
                {Clip{.min = -1, .max = 2}, true, -1, 2},
                {LeakyRelu{.alpha = 0}, false, -infinity, infinity},
                {Sigmoid(), false, -infinity, infinity}};
  for (const auto& c : kCases) {
    float lowest = 9, highest = 9;
    EXPECT_EQ(FindBounds(c.activation, &lowest, &highest), c.only_bounds);
    EXPECT_EQ(lowest, c.lowest);
    EXPECT_EQ(highest, c.highest);
  }
}

}  // namespace
}  // namespace caffe2rt::activation_test
