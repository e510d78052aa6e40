#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::upsample_bilinear_test {
namespace {

using namespace test;  // used throughout this file

std::string Upsample(float height, float width) {
  return R"(type: "UpsampleBilinear" input: "X" output: "Y" arg { name: "height_scale" f: )" +
         std::to_string(height) + R"( } arg { name: "width_scale" f: )" + std::to_string(width) +
         " }";
}

// The corners keep their values, and the other pixels are evenly spaced in between, in steps of
// 1/3.
TEST(UpsampleBilinearTest, InterpolatesBetweenTheCorners) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 0, 3);
  RunOp(&ws, Upsample(1, 2));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {0, 1, 2, 3, 6, 7, 8, 9}, 1e-6);
  RunOp(&ws, Upsample(2, 1));
  ExpectTensor<float>(ws, "Y", {1, 1, 4, 2}, {0, 3, 2, 5, 4, 7, 6, 9}, 1e-6);
  ExpectShapeInferred(&ws, Upsample(2, 1));
}

TEST(UpsampleBilinearTest, OnePixelIsTheFirst) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 4}, 5);
  RunOp(&ws, Upsample(1, 0.26f));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {5});
}

TEST(UpsampleBilinearTest, TheInputOfScalesGoesBeforeTheArguments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 2}, 0, 2);
  Feed<float>(&ws, "s", {2}, {2, 1.5f});
  RunOp(&ws, R"(type: "UpsampleBilinear" input: "X" input: "s" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3}, {0, 1, 2, 0, 1, 2}, 1e-6);
}

TEST(UpsampleBilinearTest, EmptyImagesStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 2, 2}, {});
  RunOp(&ws, Upsample(2, 2));
  ExpectTensor<float>(ws, "Y", {0, 1, 4, 4}, {});
}

TEST(UpsampleBilinearTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Upsample(1, 1)); }, "rank of input 0 (X) of shape [1, 2, 2]");
  ExpectThrows([&] { RunOp(&ws, Upsample(1, -2)); },
               "argument \"width_scale\" is -2, want above 0");
}

// Columns 1 and 2 of Y lie at 1/3 and 2/3 between the columns of X.
TEST(UpsampleBilinearGradientTest, SharesEachPixelBetweenItsNeighbours) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 2});
  Feed<float>(&ws, "dY", {1, 1, 1, 4}, {3, 30, 300, 3000});
  const std::string op =
      R"(type: "UpsampleBilinearGradient" input: "dY" input: "X" output: "dX"
         arg { name: "width_scale" f: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 2}, {3 + 20 + 100, 10 + 200 + 3000}, 1e-5);
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "X", {0, 1, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 1, 4, 4}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 1, 2, 2}, {});
  FeedRange<float>(&ws, "dY", {1, 1, 4, 4});
  ExpectThrows([&] { RunOp(&ws, op); }, "want the batch and the channels of input 1 (X)");
}

TEST(UpsampleBilinearGradientTest, RejectsScalesThatAreNotTwo) {
  Workspace ws;
  FeedRandom(&ws, "dY", {1, 1, 4, 4});
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  FeedRandom(&ws, "scales", {3});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UpsampleBilinearGradient" input: "dY" input: "X" input: "scales"
                      output: "dX")");
      },
      "elements of input 2 (scales): got 3, want 2");
}

TEST(UpsampleBilinearGradientTest, AgreesWithDifferences) {
  Workspace ws;
  for (const float scale : {2.0f, 1.3f, 0.5f, 0.26f}) {
    FeedRandom(&ws, "X", {1, 2, 4, 3});
    ExpectGradientMatches(&ws, Upsample(scale, 2 * scale));
  }
  Feed<float>(&ws, "s", {2}, {2, 1.5f});
  const std::string op = R"(type: "UpsampleBilinear" input: "X" input: "s" output: "Y")";
  ExpectGradientMatches(&ws, op, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(op), "UpsampleBilinearGradient(Y_grad,X,s)->X_grad | X_grad -");
  ExpectThrows(
      [&] {
        DescribeGradient(R"(type: "UpsampleBilinearGradient" input: "dY" input: "X"
                                         output: "dX")");
      },
      "UpsampleBilinearGradient");
}

}  // namespace
}  // namespace caffe2rt::upsample_bilinear_test
