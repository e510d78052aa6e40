#pragma once
// Test cases for operators on single numbers: the result for each of a list of numbers is compared
// with an independent formula.

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

struct UnaryCase {
  const char* type;
  const char* args;           // the arguments as a text proto
  double (*formula)(double);  // computed in double, using <cmath>
  bool inplace;
  double tolerance = 4e-7;
  bool has_gradient = true;
};

inline void PrintTo(const UnaryCase& c, std::ostream* out) { *out << c.type << " " << c.args; }

inline std::string UnaryOp(const UnaryCase& c, const char* output = "Y") {
  return std::string("type: \"") + c.type + "\" input: \"X\" output: \"" + output + "\" " + c.args;
}

inline std::string NameOfUnaryCase(const testing::TestParamInfo<UnaryCase>& info) {
  return info.param.type + std::to_string(info.index);
}

// Checks the behaviour that all these operators share. `values` must be in the operator's domain.
inline void ExpectUnaryBehaviour(const UnaryCase& c, const std::vector<float>& values) {
  std::vector<float> want;
  for (const float x : values)
    want.push_back(static_cast<float>(c.formula(static_cast<double>(x))));
  const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  Workspace ws;
  Feed<float>(&ws, "X", dims, values);
  RunOp(&ws, UnaryOp(c));
  ExpectTensor<float>(ws, "Y", dims, want, c.tolerance);
  ExpectShapeInferred(&ws, UnaryOp(c));

  // A single element is handled by a different code path than many.
  Feed<float>(&ws, "X", {}, {values[0]});
  RunOp(&ws, UnaryOp(c));
  ExpectTensor<float>(ws, "Y", {}, {want[0]}, c.tolerance);

  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, UnaryOp(c));
  ExpectTensor<float>(ws, "Y", {0, 3}, {});

  Feed<float>(&ws, "X", dims, values);
  if (c.inplace) {
    RunOp(&ws, UnaryOp(c, "X"));
    ExpectTensor<float>(ws, "X", dims, want, c.tolerance);
  } else {
    ExpectThrows([&] { RunOp(&ws, UnaryOp(c, "X")); }, "in place");
  }

  Feed<bool>(&ws, "X", {2}, {true, false});
  ExpectThrows([&] { RunOp(&ws, UnaryOp(c)); },
               "input 0 (X) has elements of type bool, want float");
}

// Compares dX that the operators of the gradient maker compute with dY times the derivative of the
// formula, a central difference in double. Leaves out the values at which the formula has a kink or
// a pole.
inline void ExpectUnaryGradient(const UnaryCase& c, const std::vector<float>& values) {
  constexpr double kStep = 1e-6;
  const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  std::vector<float> dy;
  for (size_t i = 0; i < values.size(); ++i) {
    dy.push_back(i % 3 == 0 ? -2.0f : 0.5f * static_cast<float>(i % 3));
  }
  Workspace ws;
  Feed<float>(&ws, "X", dims, values);
  RunOp(&ws, UnaryOp(c));
  Feed<float>(&ws, "Y_grad", dims, dy);
  const GradientOpsMeta gradient = GetGradientForOp(ParseOp(UnaryOp(c)), {{"Y_grad", "", ""}});
  for (const OperatorDef& op : gradient.ops_) RunOp(&ws, op);
  ASSERT_EQ(gradient.g_input_.at(0).dense_, "X_grad");
  const std::vector<float> got = Fetch<float>(ws, "X_grad");
  EXPECT_EQ(DimsOf(ws, "X_grad"), dims);
  size_t compared = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(values[i]);
    const double left = (c.formula(x) - c.formula(x - kStep)) / kStep;
    const double right = (c.formula(x + kStep) - c.formula(x)) / kStep;
    const double slope = (left + right) / 2;
    if (!(std::abs(left - right) < 1e-3 * std::max(1.0, std::abs(slope)))) continue;
    ++compared;
    const double want = static_cast<double>(dy[i]) * slope;
    EXPECT_NEAR(static_cast<double>(got[i]), want, 5e-6 * std::max(1.0, std::abs(want)))
        << "at " << x;
  }
  EXPECT_GE(compared + 4, values.size()) << "too many kinks";
}

}  // namespace caffe2rt::test
