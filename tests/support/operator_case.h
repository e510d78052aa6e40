#pragma once
// Operators with their inputs and expected outputs as rows of a table.
//
//   INSTANTIATE_TEST_SUITE_P(Trilu, OperatorCaseTest, ValuesIn<OperatorCase>({
//       {"Upper", R"(type: "Trilu" input: "a" output: "x")", {{"float", {2, 2}, {1, 2, 3, 4}}},
//        {{"float", {2, 2}, {1, 2, 0, 4}}}}}), NameOfCase);
//
// Inputs are the blobs a, b, c, ..., outputs x, y, z, w. A row whose op has no output listed expects
// the error `error`.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Types are those of DataTypeName, and "text", whose values are the decimals of the numbers as strings.
struct RowTensor {
  const char* type;
  std::vector<int64_t> dims;
  std::vector<double> values;
};

struct OperatorCase {
  const char* name;
  const char* op;
  std::vector<RowTensor> inputs;
  std::vector<RowTensor> outputs = {};
  const char* error = nullptr;
  double tolerance = 1e-6;
};

// Runs the operator, compares type, dims and values of its outputs, and checks that shapes are inferred
// (or unknown, if `may_be_unknown`), and that further runs on the CPU neither allocate nor lock; or
// expects the error.
void ExpectCase(const OperatorCase& row, bool may_be_unknown = true);

// Used by GoogleTest.
inline void PrintTo(const OperatorCase& row, std::ostream* out) { *out << row.op; }
inline std::string NameOfCase(const testing::TestParamInfo<OperatorCase>& info) {
  return info.param.name;
}

}  // namespace caffe2rt::test
