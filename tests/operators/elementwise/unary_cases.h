#pragma once
// Test cases for operators on single numbers: the result for each of a list of numbers is compared
// with an independent formula.

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

struct UnaryCase {
  const char* type;
  const char* args;           // the arguments as a text proto
  double (*formula)(double);  // computed in double, using <cmath>
  bool inplace;
  double tolerance = 4e-7;
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

}  // namespace caffe2rt::test
