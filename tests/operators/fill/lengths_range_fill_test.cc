#include "tests/support/operator_test.h"

namespace caffe2rt::lengths_range_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(LengthsRangeFillTest, CountsUpToEachLength) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 3});
  const char* op = R"(type: "LengthsRangeFill" input: "L" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {5}, {0, 1, 0, 1, 2});
  ExpectShapeInferred(&ws, op, true);
}

TEST(LengthsRangeFillTest, MakesAnEmptyVectorOfNoLengths) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, R"(type: "LengthsRangeFill" input: "L" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {0}, {});
}

TEST(LengthsRangeFillTest, RejectsNegativeLengthsAndMatrices) {
  Workspace ws;
  Feed<int32_t>(&ws, "N", {2}, {-1, 2});
  Feed<int32_t>(&ws, "M", {1, 1}, {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "LengthsRangeFill" input: "N" output: "Y")"); },
               "element 0 of input 0 (lengths), want at least 0");
  ExpectThrows([&] { RunOp(&ws, R"(type: "LengthsRangeFill" input: "M" output: "Y")"); },
               "want a vector");
}

}  // namespace
}  // namespace caffe2rt::lengths_range_fill_test
