#include "tests/support/operator_test.h"

namespace caffe2rt::test::boolean_mask_test {
namespace {

const char* const kMask = R"(type: "BooleanMask" input: "X" input: "M" output: "Y" output: "I")";
const char* const kGradient = R"(type: "BooleanMaskGradient" input: "M" input: "dY" output: "dX")";
const char* const kUnmask =
    R"(type: "BooleanUnmask" input: "M" input: "V" input: "N" input: "W" output: "Y")";

TEST(BooleanMaskTest, KeepsTheRowsWhereTheMaskIsTrue) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<bool>(&ws, "M", {3}, {true, false, true});
  RunOp(&ws, kMask);
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 2, 5, 6});
  ExpectTensor<int64_t>(ws, "I", {2}, {0, 2});
  ExpectShapeInferred(&ws, kMask, true);
  Feed<bool>(&ws, "M", {3}, {false, false, false});
  RunOp(&ws, kMask);
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  ExpectTensor<int64_t>(ws, "I", {0}, {});
}

TEST(BooleanMaskTest, KeepsStrings) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {3}, {"a", "b", "c"});
  Feed<bool>(&ws, "M", {3}, {true, false, true});
  RunOp(&ws, R"(type: "BooleanMask" input: "X" input: "M" output: "Y")");
  ExpectTensor<std::string>(ws, "Y", {2}, {"a", "c"});
}

TEST(BooleanMaskTest, RejectsMasksThatDoNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<bool>(&ws, "M", {1}, {true});
  ExpectThrows([&] { RunOp(&ws, kMask); }, "elements of input 1 (mask), want the rows of input 0");
  Feed<bool>(&ws, "M", {1, 2}, {true, true});
  ExpectThrows([&] { RunOp(&ws, kMask); }, "rank of input 1 (mask) of shape [1, 2]");
}

TEST(BooleanMaskTest, PutsTheGradientsBack) {
  Workspace ws;
  Feed<bool>(&ws, "M", {3}, {false, true, true});
  Feed<float>(&ws, "dY", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {3, 2}, {0, 0, 1, 2, 3, 4});
  ExpectShapeInferred(&ws, kGradient);
  Feed<float>(&ws, "dY", {1, 2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "true elements of input 0 (mask)");
}

TEST(BooleanUnmaskTest, TakesTheNextValueOfTheFirstTrueMask) {
  Workspace ws;
  Feed<bool>(&ws, "M", {4}, {true, false, false, true});
  Feed<int32_t>(&ws, "V", {2}, {10, 11});
  Feed<bool>(&ws, "N", {4}, {false, true, true, true});
  Feed<int32_t>(&ws, "W", {2}, {20, 21});
  RunOp(&ws, kUnmask);
  ExpectTensor<int32_t>(ws, "Y", {4}, {10, 20, 21, 11});
  ExpectShapeInferred(&ws, kUnmask);
}

TEST(BooleanUnmaskTest, RejectsPositionsWithoutAValueAndValuesWithoutAPosition) {
  Workspace ws;
  Feed<bool>(&ws, "M", {2}, {true, false});
  Feed<float>(&ws, "V", {1}, {1});
  Feed<bool>(&ws, "N", {2}, {true, false});
  Feed<float>(&ws, "W", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kUnmask); }, "All masks have False at position 1");
  Feed<bool>(&ws, "N", {2}, {false, true});
  ExpectThrows([&] { RunOp(&ws, kUnmask); }, "position in input 3 (values)");
  Feed<float>(&ws, "W", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kUnmask); }, "values that mask 1 takes");
  Feed<int32_t>(&ws, "W", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kUnmask); }, "want that of input 1, float");
  Feed<bool>(&ws, "M", {2}, {true, true});
  Feed<float>(&ws, "V", {2}, {1, 2});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "BooleanUnmask" input: "M" input: "V" input: "N" output: "Y")"); },
      "it has 3 inputs");
}

}  // namespace
}  // namespace caffe2rt::test::boolean_mask_test
