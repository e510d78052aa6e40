#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::nchw2nhwc_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

TEST(NCHW2NHWCTest, MovesTheChannelsToTheEnd) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 1, 3});
  const char* op = R"(type: "NCHW2NHWC" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1, 3, 2}, {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  ExpectShapeInferred(&ws, op);
}

TEST(NHWC2NCHWTest, MovesTheChannelsBack) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 2, 2, 5});
  const char* op = R"(type: "NHWC2NCHW" input: "X" output: "Y")";
  RunOp(&ws, op);
  EXPECT_EQ(test::DimsOf(ws, "Y"), (std::vector<int64_t>{2, 5, 3, 2, 2}));
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "NCHW2NHWC" input: "Y" output: "Z")");
  ExpectTensor<float>(ws, "Z", {2, 3, 2, 2, 5}, Fetch<float>(ws, "X"));
}

TEST(NCHW2NHWCTest, AcceptsEmptyTensors) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 0, 2});
  RunOp(&ws, R"(type: "NCHW2NHWC" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 0, 2, 3}, {});
}

TEST(NCHW2NHWCTest, RejectsMatricesAndOtherTypes) {
  Workspace ws;
  FeedRange<float>(&ws, "M", {2, 3});
  FeedRange<int32_t>(&ws, "I", {2, 3, 4});
  for (const char* type : {"NCHW2NHWC", "NHWC2NCHW"}) {
    ExpectThrows(
        [&] { RunOp(&ws, std::string("type: \"") + type + R"(" input: "M" output: "Y")"); },
        "rank of input 0, want at least 3");
    ExpectThrows(
        [&] { RunOp(&ws, std::string("type: \"") + type + R"(" input: "I" output: "Y")"); },
        "float");
  }
}

TEST(NCHW2NHWCTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 2, 2});
  ExpectGradientMatches(&ws, R"(type: "NCHW2NHWC" input: "X" output: "Y")");
  ExpectGradientMatches(&ws, R"(type: "NHWC2NCHW" input: "X" output: "Y")");
}

}  // namespace
}  // namespace caffe2rt::nchw2nhwc_test
