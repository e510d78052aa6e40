#include "tests/support/operator_test.h"

namespace caffe2rt::prelu_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& order = "NCHW", const std::string& output = "Y") {
  return R"(type: "PRelu" input: "X" input: "W" output: ")" + output +
         R"(" arg { name: "order" s: ")" + order + "\" }";
}

TEST(PReluTest, HasASlopeForEachChannel) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {-1, 2, -3, 4, -5, 6, -7, 8});
  Feed<float>(&ws, "W", {2}, {0.5f, 10});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {-0.5f, 2, -30, 4, -2.5f, 6, -70, 8});
  ExpectShapeInferred(&ws, Op());
  RunOp(&ws, Op("NHWC"));
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {-0.5f, 2, -1.5f, 4, -2.5f, 6, -3.5f, 8});
  RunOp(&ws, Op("NCHW", "X"));
  ExpectTensor<float>(ws, "X", {2, 2, 2}, {-0.5f, 2, -30, 4, -2.5f, 6, -70, 8});
}

TEST(PReluTest, SharesOneSlope) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {-1, 2, -3});
  Feed<float>(&ws, "W", {1, 1}, {2});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {1, 3}, {-2, 2, -6});
}

TEST(PReluTest, TakesARowOfChannelsInNHWC) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {-1, -2, -3});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  RunOp(&ws, Op("NHWC"));
  ExpectTensor<float>(ws, "Y", {3}, {-1, -4, -9});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "rank of input 0 (X) of shape [3]");
}

TEST(PReluTest, KeepsEmptyShapes) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  FeedRange<float>(&ws, "W", {3});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(PReluTest, NamesSlopesThatDoNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "W", {2});
  ExpectThrows([&] { RunOp(&ws, Op()); },
               "input 1 (W) has shape [2], want 3 slopes, one for each channel of input 0 (X)");
  FeedRange<double>(&ws, "W", {3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "double");
}

}  // namespace
}  // namespace caffe2rt::prelu_test
