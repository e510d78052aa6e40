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

TEST(UpsampleBilinearGradientTest, RejectsScalesThatTheOperatorRejects) {
  Workspace ws;
  FeedRandom(&ws, "dY", {1, 1, 4, 4});
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  for (const char* name : {"width_scale", "height_scale"}) {
    for (const char* scale : {"0", "-1", "nan"}) {
      const std::string text = std::string(
                                   "type: 'UpsampleBilinearGradient' input: 'dY' input: 'X' "
                                   "output: 'dX' arg { name: '") +
                               name + "' f: " + scale + " }";
      ExpectThrows([&] { RunOp(&ws, text); }, std::string("argument \"") + name + "\" is");
    }
  }
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

// Every pixel lies between four pixels of X, at the fractions that map corners to corners.
TEST(UpsampleBilinearTest, InterpolatesEveryPlaneAtTheFractionsOfTheCorners) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 4});
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (const auto& [rows, columns] : {std::pair(2.0f, 1.5f), {1, 0.5f}, {0.4f, 1}, {0.2f, 3}}) {
    const int height = static_cast<int>(5 * rows), width = static_cast<int>(4 * columns);
    std::vector<float> want;
    for (int p = 0; p < 6; ++p) {
      for (int i = 0; i < height * width; ++i) {
        const double y = height > 1 ? i / width * 4.0 / (height - 1) : 0;
        const double z = width > 1 ? i % width * 3.0 / (width - 1) : 0;
        double sum = 0;
        for (int j = 0; j < 20; ++j) {
          sum += std::max(0.0, 1 - std::abs(y - j / 4)) * std::max(0.0, 1 - std::abs(z - j % 4)) *
                 x[static_cast<size_t>(p * 20 + j)];
        }
        want.push_back(static_cast<float>(sum));
      }
    }
    RunOp(&ws, Upsample(rows, columns));
    ExpectTensor<float>(ws, "Y", {2, 3, height, width}, want, 1e-5);
    ExpectShapeInferred(&ws, Upsample(rows, columns));
  }
}

TEST(UpsampleBilinearTest, RejectsScalesThatAreNotTwo) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  const std::string op = R"(type: "UpsampleBilinear" input: "X" input: "s" output: "Y")";
  Feed<float>(&ws, "s", {1, 2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 1 (scales) has shape [1, 2], want [2]");
  Feed<float>(&ws, "s", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 1 (scales) has shape [1], want [2]");
  Feed<float>(&ws, "s", {2}, {2, 1});
  ExpectShapeInferred(&ws, op, /*may_be_unknown=*/true);
  RunOp(&ws, R"(type: "UpsampleBilinear" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {0, 1, 2, 3});  // the scales are 1
}

TEST(UpsampleBilinearGradientTest, LeavesNothingOfTheLastRun) {
  Workspace ws;
  const std::string op =
      R"(type: "UpsampleBilinearGradient" input: "dY" input: "X" output: "dX")";
  FeedRange<float>(&ws, "X", {1, 2, 1, 2});
  Feed<float>(&ws, "dY", {1, 2, 1, 3}, {2, 4, 8, 16, 32, 64});
  for (int run = 0; run < 2; ++run) {  // onto the same dX
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "dX", {1, 2, 1, 2}, {4, 10, 32, 80}, 1e-6);
  }
}

}  // namespace
}  // namespace caffe2rt::upsample_bilinear_test
