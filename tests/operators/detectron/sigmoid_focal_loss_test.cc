#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sigmoid_focal_loss_test {
namespace {

const std::string kLoss =
    R"(type: "SigmoidFocalLoss" input: "X" input: "L" input: "S" output: "loss" )";
const std::string kLossGradient = R"(type: "SigmoidFocalLossGradient"
    input: "X" input: "L" input: "S" input: "d" output: "dX" )";

std::string Arguments(int classes, float gamma, float alpha = 0.25f, float scale = 1) {
  return R"(arg { name: "num_classes" i: )" + std::to_string(classes) +
         R"( } arg { name: "gamma" f: )" + std::to_string(gamma) + R"( } arg { name: "alpha" f: )" +
         std::to_string(alpha) + R"( } arg { name: "scale" f: )" + std::to_string(scale) + " }";
}

// Two classes at three positions with the labels 2, background, ignored.
TEST(SigmoidFocalLossTest, WeighsTheLabelledClassAgainstTheOthers) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 3}, {0, 0, 9, 0, 0, -9});
  Feed<int32_t>(&ws, "L", {1, 1, 1, 3}, {2, 0, -1});
  Feed<float>(&ws, "S", {1}, {4});
  // p = 1/2 everywhere: one labelled logit, and three others.
  const float each = 0.25f * std::log(2.0f);
  RunOp(&ws, kLoss + Arguments(2, 2, 0.1f, 8));
  ExpectTensor<float>(ws, "loss", {}, {2 * each * (0.1f + 3 * 0.9f)}, 1e-6);
  ExpectShapeInferred(&ws, kLoss + Arguments(2, 2));
  // The derivative of -(1 - p)^2 log(p) at p = 1/2 is -1/4 (1/2 + log(2)).
  Feed<float>(&ws, "d", {}, {1});
  RunOp(&ws, kLossGradient + Arguments(2, 2, 0.1f, 8));
  const float slope = 2 * 0.25f * (0.5f + std::log(2.0f));
  ExpectTensor<float>(ws, "dX", {1, 2, 1, 3},
                      {0.9f * slope, 0.9f * slope, 0, -0.1f * slope, 0.9f * slope, 0}, 1e-6);
  ExpectShapeInferred(&ws, kLossGradient + Arguments(2, 2));
  // With gamma 0 and alpha 1/2 it is half the cross entropy. A normalizer below 1 counts as 1.
  Feed<float>(&ws, "S", {}, {0.5f});
  RunOp(&ws, kLoss + Arguments(2, 0, 0.5f));
  ExpectTensor<float>(ws, "loss", {}, {2 * std::log(2.0f)}, 1e-6);
}

// The definition, in double, for several anchors and images, whose labels differ.
TEST(SigmoidFocalLossTest, IsTheFocalLossOfEachClass) {
  constexpr int kImages = 2, kAnchors = 3, kClasses = 4, kHeight = 5, kWidth = 7;
  constexpr int kPositions = kHeight * kWidth;
  Workspace ws;
  FeedRandom(&ws, "X", {kImages, kAnchors * kClasses, kHeight, kWidth}, -8, 8);
  std::vector<int32_t> labels;
  for (int i = 0; i < kImages * kAnchors * kPositions; ++i) labels.push_back(i * 5 % 11 % 6 - 1);
  Feed<int32_t>(&ws, "L", {kImages, kAnchors, kHeight, kWidth}, labels);
  Feed<float>(&ws, "S", {}, {3});
  Feed<float>(&ws, "d", {1}, {300});
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (const double gamma : {0.0, 0.5, 1.0, 2.0}) {
    const double alpha = 0.3;
    double sum = 0;
    std::vector<float> gradient;
    for (int group = 0; group < kImages * kAnchors; ++group) {
      for (int c = 0; c < kClasses; ++c) {
        for (int at = 0; at < kPositions; ++at) {
          const int label = labels[static_cast<size_t>(group * kPositions + at)];
          const double logit = x[static_cast<size_t>((group * kClasses + c) * kPositions + at)];
          const double sign = label == c + 1 ? 1 : -1;
          const double weight = label == -1 ? 0 : label == c + 1 ? alpha : 1 - alpha;
          const double q = 1 / (1 + std::exp(-sign * logit));
          sum -= weight * std::pow(1 - q, gamma) * std::log(q);
          const double slope = std::pow(1 - q, gamma) * (gamma * q * std::log(q) - (1 - q));
          gradient.push_back(static_cast<float>(100 * sign * weight * slope));
        }
      }
    }
    const std::string arguments = Arguments(kClasses, static_cast<float>(gamma), 0.3f);
    RunOp(&ws, kLoss + arguments);
    ExpectTensor<float>(ws, "loss", {}, {static_cast<float>(sum / 3)}, 1e-5);
    RunOp(&ws, kLossGradient + arguments);
    ExpectTensor<float>(ws, "dX", DimsOf(ws, "X"), gradient, 1e-4);
  }
}

// log(p) is limited to that of the smallest normal float.
TEST(SigmoidFocalLossTest, StaysFiniteForLargeLogits) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 4}, {-200, 200, 200, -200});
  Feed<int32_t>(&ws, "L", {1, 1, 1, 4}, {1, 1, 0, 0});
  Feed<float>(&ws, "S", {}, {1});
  Feed<float>(&ws, "d", {}, {1});
  RunOp(&ws, kLoss + Arguments(1, 2));
  ExpectTensor<float>(ws, "loss", {}, {0.25f * 87.336548f + 0.75f * 200}, 1e-6);
  RunOp(&ws, kLossGradient + Arguments(1, 2));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 4}, {-0.25f, 0, 0.75f, 0}, 1e-6);
}

TEST(SigmoidFocalLossTest, OfNoLogitsIsZero) {
  Workspace ws;
  Feed<float>(&ws, "S", {}, {0});
  Feed<float>(&ws, "d", {}, {1});
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{0, 4, 2, 3}, {2, 0, 2, 3}, {2, 4, 0, 3}}) {
    Feed<float>(&ws, "X", dims, {});
    Feed<int32_t>(&ws, "L", {dims[0], dims[1] / 2, dims[2], dims[3]}, {});
    RunOp(&ws, kLoss + Arguments(2, 1));
    ExpectTensor<float>(ws, "loss", {}, {0});
    RunOp(&ws, kLossGradient + Arguments(2, 1));
    ExpectTensor<float>(ws, "dX", dims, {});
  }
}

TEST(SigmoidFocalLossTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 6, 1, 2}, -2, 2);
  Feed<int32_t>(&ws, "L", {1, 2, 1, 2}, {1, -1, 0, 3});
  Feed<float>(&ws, "S", {1}, {2.5f});
  for (const float gamma : {0.0f, 0.7f, 2.0f}) {
    ExpectGradientMatches(&ws, kLoss + Arguments(3, gamma, 0.4f, 2));
  }
  EXPECT_EQ(DescribeGradient(kLoss),
            "SigmoidFocalLossGradient(X,L,S,loss_grad)->X_grad | X_grad - -");
}

TEST(SigmoidFocalLossTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 6, 1, 2});
  FeedRange<int32_t>(&ws, "L", {2, 3, 1, 1}, 0, 0);
  Feed<float>(&ws, "S", {2}, {1, 1});
  Feed<float>(&ws, "d", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1)); },
               "elements of input 1 (labels) of shape [2, 3, 1, 1], want [2, 3, 1, 2]");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(4, 1)); },
               "input 0 (logits) of shape [2, 6, 1, 2] has 6 channels, want a multiple of the "
               "argument num_classes, 4");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(0, 1)); },
               "argument \"num_classes\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1, 0.25f, -1)); },
               "argument \"scale\" is -1, want at least 0");
  FeedRange<int32_t>(&ws, "L", {2, 3, 1, 2}, 0, 0);
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1)); },
               "elements of input 2 (normalizer) of shape [2]");
  Feed<float>(&ws, "S", {}, {1});
  Feed<float>(&ws, "d", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kLossGradient + Arguments(2, 1)); },
               "elements of input 3 (d_loss) of shape [0]");
  FeedRandom(&ws, "X", {2, 12});
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1)); },
               "rank of input 0 (logits) of shape [2, 12]");
}

}  // namespace
}  // namespace caffe2rt::test::sigmoid_focal_loss_test
