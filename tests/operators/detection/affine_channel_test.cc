#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::affine_channel_test {
namespace {

const std::string kForward =
    R"(type: "AffineChannel" input: "X" input: "scale" input: "bias" output: "Y" )";
const char* const kNhwc = R"(arg { name: "order" s: "NHWC" })";
const char* const kLearn = R"(arg { name: "is_learnable" i: 1 } )";

TEST(AffineChannelTest, ScalesAndShiftsEachChannel) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 2}, 1);
  Feed<float>(&ws, "scale", {2}, {2, -1});
  Feed<float>(&ws, "bias", {2}, {10, 0.5f});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {12, 14, -2.5, -3.5, 20, 22, -6.5, -7.5});
  ExpectShapeInferred(&ws, kForward);
  RunOp(&ws, kForward + kNhwc);
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {12, -1.5, 16, -3.5, 20, -5.5, 24, -7.5});
  RunOp(&ws, R"(type: "AffineChannel" input: "X" input: "scale" input: "bias" output: "X")");
  ExpectTensor<float>(ws, "X", {2, 2, 2}, {12, 14, -2.5, -3.5, 20, 22, -6.5, -7.5});
}

TEST(AffineChannelTest, GradientMatchesDifferences) {
  for (const char* const order : {"", kNhwc}) {
    Workspace ws;
    FeedRandom(&ws, "X",
               *order == '\0' ? std::vector<int64_t>{2, 3, 19} : std::vector<int64_t>{2, 19, 3});
    FeedRandom(&ws, "scale", {3}, -1, 1, 2);
    FeedRandom(&ws, "bias", {3}, -1, 1, 3);
    ExpectGradientMatches(&ws, kForward + order);
    ExpectGradientMatches(&ws, kForward + kLearn + order);
  }
  EXPECT_EQ(DescribeGradient(kForward), "AffineChannelGradient(Y_grad,scale)->X_grad | X_grad - -");
  EXPECT_EQ(DescribeGradient(kForward + kLearn),
            "AffineChannelGradient(Y_grad,X,scale)->X_grad,scale_grad,bias_grad is_learnable=1 | "
            "X_grad scale_grad bias_grad");
}

TEST(AffineChannelTest, GradientRunsInPlace) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "dY", {1, 2, 2}, {1, -1, 2, 5});
  Feed<float>(&ws, "scale", {2}, {3, 2});
  const std::string learn =
      R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dY" output: "ds"
         output: "db" arg { name: "is_learnable" i: 1 })";
  ExpectShapeInferred(&ws, learn);
  ExpectTensor<float>(ws, "dY", {1, 2, 2}, {3, -3, 4, 10});
  ExpectTensor<float>(ws, "ds", {2}, {-1, 26});
  ExpectTensor<float>(ws, "db", {2}, {0, 7});
  RunOp(&ws, R"(type: "AffineChannelGradient" input: "dY" input: "scale" output: "dY")");
  ExpectTensor<float>(ws, "dY", {1, 2, 2}, {9, -9, 8, 20});
}

TEST(AffineChannelTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  Feed<float>(&ws, "dY", {0, 2, 3}, {});
  Feed<float>(&ws, "scale", {2}, {2, 3});
  Feed<float>(&ws, "bias", {2}, {2, 3});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
  RunOp(
      &ws,
      R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dX" output: "ds"
                output: "db" arg { name: "is_learnable" i: 1 })");
  ExpectTensor<float>(ws, "dX", {0, 2, 3}, {});
  ExpectTensor<float>(ws, "ds", {2}, {0, 0});
  ExpectTensor<float>(ws, "db", {2}, {0, 0});
}

TEST(AffineChannelTest, IgnoresNumbersBeyondTheChannels) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "scale", {2, 2}, {2, 3, 7, 7});
  Feed<float>(&ws, "bias", {3}, {1, -1, 7});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {3, 5, 8, 11});
  RunOp(&ws, kForward + kNhwc);
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {3, 5, 7, 11});
  RunOp(&ws, R"(type: "AffineChannelGradient" input: "X" input: "scale" output: "dX")");
  ExpectTensor<float>(ws, "dX", {1, 2, 2}, {2, 4, 9, 12});
  // Without elements no numbers are needed.
  Feed<float>(&ws, "X", {5, 0, 3, 1}, {});
  Feed<float>(&ws, "scale", {0}, {});
  Feed<float>(&ws, "bias", {0}, {});
  RunOp(&ws, kForward + kNhwc);
  ExpectTensor<float>(ws, "Y", {5, 0, 3, 1}, {});
}

TEST(AffineChannelTest, GradientHasTheShapeOfScale) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 2, 1}, {1, 2});
  Feed<float>(&ws, "X", {1, 2, 1}, {3, 5});
  Feed<float>(&ws, "scale", {2, 1}, {1, 10});
  const std::string gradient =
      R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dX"
         output: "ds" output: "db" )";
  RunOp(&ws, gradient + kLearn);
  ExpectTensor<float>(ws, "dX", {1, 2, 1}, {1, 20});
  ExpectTensor<float>(ws, "ds", {2, 1}, {3, 10});
  ExpectTensor<float>(ws, "db", {2, 1}, {1, 2});
  // Without is_learnable, input 1 is the scale and the rest is ignored.
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {1, 2, 1}, {3, 10});
}

// Dimensions of any size next to one of size 0.
TEST(AffineChannelTest, GradientOfHugeEmptyTensorsIsZero) {
  Workspace ws;
  Feed<float>(&ws, "dY", {int64_t{1} << 40, 2, 0}, {});
  Feed<float>(&ws, "X", {int64_t{1} << 40, 2, 0}, {});
  Feed<float>(&ws, "scale", {2}, {1, 2});
  RunOp(&ws, R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dX"
                output: "ds" output: "db" arg { name: "is_learnable" i: 1 })");
  ExpectTensor<float>(ws, "ds", {2}, {0, 0});
  ExpectTensor<float>(ws, "db", {2}, {0, 0});
}

TEST(AffineChannelTest, KeepsXIfScaleIsLearned) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 2, 2}, {1, 2, 0}}) {
    Workspace ws;
    FeedRandom(&ws, "X", dims);
    FeedRandom(&ws, "scale", {2});
    FeedRandom(&ws, "bias", {2});
    const std::string in_place =
        R"(type: "AffineChannel" input: "X" input: "scale" input: "bias" output: "X" )";
    ExpectThrows([&] { RunOp(&ws, in_place + kLearn); },
                 "output 0 (Y) is input 0 (X), want another blob");
    RunOp(&ws, in_place);
  }
}

TEST(AffineChannelTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 2});
  FeedRandom(&ws, "scale", {2});
  FeedRandom(&ws, "bias", {1});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "elements of input 2 (bias)");
  FeedRandom(&ws, "scale", {1});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "elements of input 1 (scale)");
  FeedRandom(&ws, "scale", {2});
  const std::string gradient =
      R"(type: "AffineChannelGradient" input: "X" input: "scale" output: "dX" )";
  ExpectThrows([&] { RunOp(&ws, gradient + kLearn); },
               "the operator has 2 inputs and 1 output, want 3 and 3");
  ExpectThrows([&] { RunOp(&ws, gradient + R"(output: "ds")"); }, "the operator has 2 outputs");
  FeedRandom(&ws, "dY", {1, 2, 3});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "scale" output: "dX"
                      output: "ds" output: "db" arg { name: "is_learnable" i: 1 })");
      },
      "input 1 (X) has shape [1, 2, 2], want that of input 0 (dY) [1, 2, 3]");
  FeedRandom(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "rank of input 0 (X)");
}

}  // namespace
}  // namespace caffe2rt::test::affine_channel_test
