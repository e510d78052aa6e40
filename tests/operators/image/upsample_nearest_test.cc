#include "tests/support/operator_test.h"

namespace caffe2rt::upsample_nearest_test {
namespace {

using namespace test;  // used throughout this file

std::string Upsample(int scale) {
  return R"(type: "UpsampleNearest" input: "X" output: "Y" arg { name: "scale" i: )" +
         std::to_string(scale) + " }";
}

TEST(UpsampleNearestTest, RepeatsPixelsInBothDirections) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2});
  RunOp(&ws, Upsample(3));
  ExpectTensor<float>(ws, "Y", {1, 3, 6}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  ExpectShapeInferred(&ws, Upsample(3));
  FeedRange<float>(&ws, "X", {1, 2, 1, 1});
  RunOp(&ws, R"(type: "UpsampleNearest" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 2, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1});
}

TEST(UpsampleNearestTest, EmptyPicturesStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 2, 2}, {});
  RunOp(&ws, Upsample(2));
  ExpectTensor<float>(ws, "Y", {0, 1, 4, 4}, {});
}

TEST(UpsampleNearestTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  ExpectThrows([&] { RunOp(&ws, Upsample(2)); }, "rank of input 0 (X) of shape [2, 2]");
  ExpectThrows([&] { RunOp(&ws, Upsample(0)); }, "argument \"scale\" is 0, want above 0");
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Upsample(2000000000)); }, "");
}

}  // namespace
}  // namespace caffe2rt::upsample_nearest_test
