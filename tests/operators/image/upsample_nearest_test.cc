#include "tests/support/gradient_test.h"
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
  FeedRange<float>(&ws, "X", {2, 1, 3, 1, 1});  // all dimensions but the last two count planes
  RunOp(&ws, Upsample(2));
  ExpectTensor<float>(ws, "Y", {2, 1, 3, 2, 2},
                      {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5});
}

TEST(UpsampleNearestTest, EmptyImagesStayEmpty) {
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

TEST(UpsampleNearestGradientTest, AddsUpTheRepeatedPixels) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2});
  Feed<float>(&ws, "dY", {1, 2, 4}, {1, 2, 4, 8, 16, 32, 64, 128});
  const std::string op = R"(type: "UpsampleNearestGradient" input: "X" input: "dY" output: "dX" )";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {1, 1, 2}, {51, 204});
  ExpectShapeInferred(&ws, op);
  ExpectThrows([&] { RunOp(&ws, op + R"(arg { name: "scale" i: 3 })"); },
               "input 1 (dY) has shape [1, 2, 4], want [1, 3, 6]: input 0 (X) enlarged by 3");
  for (const std::vector<int64_t>& dims :  // as many elements
       std::vector<std::vector<int64_t>>{{1, 4, 2}, {2, 1, 4}, {2, 4}, {1, 1, 2, 4}, {8}}) {
    FeedRange<float>(&ws, "dY", dims);
    ExpectThrows([&] { RunOp(&ws, op); },
                 MakeString("input 1 (dY) has shape ", IntArrayRef(dims), ", want [1, 2, 4]"));
  }
  Feed<float>(&ws, "X", {0, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 4, 4}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 2, 2}, {});
  Feed<float>(&ws, "X", {3, 1, 1}, {0, 0, 0});  // the first dimension counts planes
  Feed<float>(&ws, "dY", {3, 2, 2}, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {3, 1, 1}, {15, 240, 3840});
}

TEST(UpsampleNearestGradientTest, AgreesWithDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 2, 3});
  ExpectGradientMatches(&ws, Upsample(3));
  EXPECT_EQ(DescribeGradient(Upsample(3)),
            "UpsampleNearestGradient(X,Y_grad)->X_grad scale=3 | X_grad");
}

}  // namespace
}  // namespace caffe2rt::upsample_nearest_test
