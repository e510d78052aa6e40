#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::det_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"Det", R"()", {F32({2, 2}, {0, 1, 2, 3})}, {F32({}, {-2})}, 1e-06},
    {"Det",
     R"()",
     {F32({2, 3, 3}, {0.16, -1.87, 1.02, 0.29, -2.06, 2.59, 0.26, 0.92, 1.03, 1.91, -2.92, 2.09,
                      -0.39, -0.14, 1.29, 2.04, -2.32, 0.67})},
     {F32({2}, {-0.602977, -0.42224252})},
     1e-05},
    {"Det", R"()", {F64({2, 2}, {1.0, 2.0, 2.0, 4.0})}, {F64({}, {0.0})}},
    {"Det", R"()", {F32({2, 0, 0}, {})}, {F32({2}, {1, 1})}},
};

TEST(DetTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// The matrices of all permutations of 4, with the factors 2, 3, 4 and 5 of the rows: rows are swapped in every column.
TEST(DetTest, HasTheSignOfThePermutation) {
  std::vector<double> matrices, want;
  std::vector<int> columns(4);
  std::iota(columns.begin(), columns.end(), 0);
  do {
    int inversions = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        matrices.push_back(columns[i] == j ? i + 2 : 0);
        if (j < i && columns[j] > columns[i]) ++inversions;
      }
    }
    want.push_back(inversions % 2 == 0 ? 120 : -120);
  } while (std::next_permutation(columns.begin(), columns.end()));
  ASSERT_EQ(want.size(), 24u);
  ExpectOnnxCase({"Det", "", {F32({4, 6, 4, 4}, matrices)}, {F32({4, 6}, want)}});
  ExpectOnnxCase({"Det", "", {F64({24, 4, 4}, matrices)}, {F64({24}, want)}});
}

TEST(DetTest, IsZeroIfColumnsOrRowsDependOnEachOther) {
  // The last pivot is 0; the second column is 0; two rows are equal; the first two columns are equal.
  ExpectOnnxCase({"Det",
                  "",
                  {F64({4, 3, 3}, {1, 0, 0, 0, 1, 0, 5, 6, 0, 1, 0, 3, 4, 0, 6, 7, 0, 9,
                                   1, 2, 3, 4, 5, 6, 1, 2, 3, 2, 2, 1, 3, 3, 4, 5, 5, 7})},
                  {F64({4}, {0, 0, 0, 0})},
                  1e-12});
  // A pivot that is small against the other elements of its column is replaced by the largest one,
  // whatever its sign: 1e-20 * 1 - 1 * -1 and 1e-20 * 1 - -1 * 1.
  ExpectOnnxCase(
      {"Det", "", {F64({2, 2, 2}, {1e-20, 1, -1, 1, 1e-20, -1, 1, 1})}, {F64({2}, {1, 1})}, 1e-12});
  ExpectOnnxCase({"Det", "", {F64({3, 1, 1}, {-4, 0, 2.5})}, {F64({3}, {-4, 0, 2.5})}});
  ExpectOnnxCase({"Det", "", {F32({0, 2, 2}, {})}, {F32({0}, {})}});
  ExpectOnnxCase({"Det", "", {F64({0, 0}, {})}, {F64({}, {1})}});
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(DetTest, RejectsOtherMatrices) {
  ExpectCaseThrows({"Det", "", {F32({2, 3}, {1, 2, 3, 4, 5, 6})}, {F32({}, {})}},
                   "want square matrices");
  ExpectCaseThrows({"Det", "", {F32({1}, {1})}, {F32({}, {})}}, "want square matrices");
}

}  // namespace
}  // namespace caffe2rt::det_test
