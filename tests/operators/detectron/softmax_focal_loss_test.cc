#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::softmax_focal_loss_test {
namespace {

const std::string kLoss = R"(type: "SoftmaxFocalLoss"
    input: "X" input: "L" input: "S" output: "loss" output: "P" )";
const std::string kLossGradient = R"(type: "SoftmaxFocalLossGradient"
    input: "X" input: "L" input: "S" input: "P" input: "d" output: "dX" )";

std::string Arguments(int classes, float gamma, float alpha = 0.25f, float scale = 1) {
  return R"(arg { name: "num_classes" i: )" + std::to_string(classes) +
         R"( } arg { name: "gamma" f: )" + std::to_string(gamma) + R"( } arg { name: "alpha" f: )" +
         std::to_string(alpha) + R"( } arg { name: "scale" f: )" + std::to_string(scale) + " }";
}

// Two classes at three positions with the labels 1, background, ignored.
TEST(SoftmaxFocalLossTest, WeighsTheBackgroundAgainstTheOtherLabels) {
  const float log3 = std::log(3.0f);
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 3}, {log3, log3, 0, 0, 0, 0});
  Feed<int32_t>(&ws, "L", {1, 1, 1, 3}, {1, 0, -1});
  Feed<float>(&ws, "S", {1}, {2});
  // The probabilities are 3/4 and 1/4: label 1 has 1/4, label 0 has 3/4.
  const float wanted = 0.1f * 9 / 16 * std::log(4.0f) + 0.9f / 16 * (std::log(4.0f) - log3);
  RunOp(&ws, kLoss + Arguments(2, 2, 0.1f, 4));
  ExpectTensor<float>(ws, "loss", {}, {2 * wanted}, 1e-6);
  ExpectTensor<float>(ws, "P", {1, 2, 1, 3}, {.75f, .75f, .5f, .25f, .25f, .5f}, 1e-6);
  ExpectShapeInferred(&ws, kLoss + Arguments(2, 2));
  Feed<float>(&ws, "d", {}, {1});
  RunOp(&ws, kLossGradient + Arguments(2, 2, 0.1f, 4));
  // The derivative of -(1 - p)^2 log(p), times p (1 - p).
  const float a = 2 * 0.1f * 0.75f * (2 * 0.75f * 0.25f * std::log(0.25f) - 9.0f / 16);
  const float b = 2 * 0.9f * 0.25f * (2 * 0.25f * 0.75f * std::log(0.75f) - 1.0f / 16);
  ExpectTensor<float>(ws, "dX", {1, 2, 1, 3}, {-a, b, 0, a, -b, 0}, 1e-6);
  ExpectShapeInferred(&ws, kLossGradient + Arguments(2, 2));
  Feed<float>(&ws, "S", {}, {-1});
  RunOp(&ws, kLoss + Arguments(2, 2, 0.1f));
  ExpectTensor<float>(ws, "loss", {}, {wanted}, 1e-6);
}

// The definition, in double, with more positions than are processed together.
TEST(SoftmaxFocalLossTest, IsTheFocalLossOfEachLabel) {
  constexpr int kImages = 2, kAnchors = 2, kClasses = 3, kHeight = 30, kWidth = 19;
  constexpr int kPositions = kHeight * kWidth;
  Workspace ws;
  FeedRandom(&ws, "X", {kImages, kAnchors * kClasses, kHeight, kWidth}, -4, 4);
  std::vector<int32_t> labels;
  for (int i = 0; i < kImages * kAnchors * kPositions; ++i) labels.push_back(i * 5 % 7 % 4 - 1);
  Feed<int32_t>(&ws, "L", {kImages, kAnchors, kHeight, kWidth}, labels);
  Feed<float>(&ws, "S", {}, {3});
  Feed<float>(&ws, "d", {1}, {30});
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (const double gamma : {0.0, 0.5, 1.0, 2.0}) {
    const double alpha = 0.3;
    double sum = 0;
    std::vector<float> gradient(x.size());
    for (int group = 0; group < kImages * kAnchors; ++group) {
      for (int at = 0; at < kPositions; ++at) {
        const auto index = [&](int c) {
          return static_cast<size_t>((group * kClasses + c) * kPositions + at);
        };
        const int label = labels[static_cast<size_t>(group * kPositions + at)];
        if (label < 0) continue;
        double total = 0;
        for (int c = 0; c < kClasses; ++c) total += std::exp(static_cast<double>(x[index(c)]));
        const double p = std::exp(static_cast<double>(x[index(label)])) / total;
        const double weight = label == 0 ? 1 - alpha : alpha;
        sum -= weight * std::pow(1 - p, gamma) * std::log(p);
        const double slope =
            gamma * std::pow(1 - p, gamma - 1) * std::log(p) - std::pow(1 - p, gamma) / p;
        for (int c = 0; c < kClasses; ++c) {
          const double q = std::exp(static_cast<double>(x[index(c)])) / total;
          gradient[index(c)] =
              static_cast<float>(10 * weight * slope * p * ((c == label ? 1 : 0) - q));
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

// A probability of 1, or of 0, gives no NaN, whatever gamma is.
TEST(SoftmaxFocalLossTest, StaysFiniteForCertainProbabilities) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 2}, {0, 0, 200, 200});
  Feed<int32_t>(&ws, "L", {1, 1, 1, 2}, {0, 1});
  Feed<float>(&ws, "S", {}, {1});
  Feed<float>(&ws, "d", {}, {1});
  for (const float gamma : {0.0f, 0.5f, 1.0f, 2.0f}) {
    RunOp(&ws, kLoss + Arguments(2, gamma));
    ExpectTensor<float>(ws, "loss", {}, {0.75f * 87.336548f}, 1e-6);
    RunOp(&ws, kLossGradient + Arguments(2, gamma));
    ExpectTensor<float>(ws, "dX", {1, 2, 1, 2}, {-0.75f, 0, 0.75f, 0}, 1e-6);
  }
}

TEST(SoftmaxFocalLossTest, OfNoScoresIsZero) {
  Workspace ws;
  Feed<float>(&ws, "S", {}, {0});
  Feed<float>(&ws, "d", {}, {1});
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{0, 4, 2, 3}, {2, 0, 2, 3}, {2, 4, 0, 3}}) {
    Feed<float>(&ws, "X", dims, {});
    Feed<int32_t>(&ws, "L", {dims[0], dims[1] / 2, dims[2], dims[3]}, {});
    RunOp(&ws, kLoss + Arguments(2, 1));
    ExpectTensor<float>(ws, "loss", {}, {0});
    ExpectTensor<float>(ws, "P", dims, {});
    RunOp(&ws, kLossGradient + Arguments(2, 1));
    ExpectTensor<float>(ws, "dX", dims, {});
  }
}

TEST(SoftmaxFocalLossTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 6, 1, 2}, -2, 2);
  Feed<int32_t>(&ws, "L", {1, 2, 1, 2}, {1, -1, 0, 2});
  Feed<float>(&ws, "S", {1}, {2.5f});
  for (const float gamma : {0.0f, 0.7f, 2.0f}) {
    ExpectGradientMatches(&ws, kLoss + Arguments(3, gamma, 0.4f, 2),
                          {.outputs_without_gradient = {"P"}});
  }
  EXPECT_EQ(DescribeGradient(kLoss),
            "SoftmaxFocalLossGradient(X,L,S,P,loss_grad)->X_grad | X_grad - -");
}

TEST(SoftmaxFocalLossTest, RejectsLabelsThatAreNoClass) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 1, 2});
  FeedRandom(&ws, "P", {1, 2, 1, 2});
  Feed<int32_t>(&ws, "L", {1, 1, 1, 2}, {0, 2});
  Feed<float>(&ws, "S", {}, {1});
  Feed<float>(&ws, "d", {}, {1});
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1)); }, "element 1 of input 1 (labels)");
  ExpectThrows([&] { RunOp(&ws, kLossGradient + Arguments(2, 1)); },
               "element 1 of input 1 (labels)");
}

TEST(SoftmaxFocalLossTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 6, 1, 2});
  FeedRandom(&ws, "P", {2, 6, 1, 1});
  FeedRange<int32_t>(&ws, "L", {2, 3, 1, 2}, 0, 0);
  Feed<float>(&ws, "S", {1}, {1});
  Feed<float>(&ws, "d", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kLossGradient + Arguments(2, 1)); },
               "elements of input 3 (probabilities) of shape [2, 6, 1, 1]");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(4, 1)); }, "has 6 channels, want a multiple");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1) + R"(arg { name: "order" s: "NHWC" })"); },
               "argument \"order\" is \"NHWC\", want NCHW");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(-2, 1)); },
               "argument \"num_classes\" is -2, want above 0");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1, 0.25f, -1)); },
               "argument \"scale\" is -1, want at least 0");
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(3, 1)); },
               "elements of input 1 (labels) of shape [2, 3, 1, 2], want [2, 2, 1, 2]");
  Feed<float>(&ws, "S", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kLoss + Arguments(2, 1)); },
               "elements of input 2 (normalizer) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::softmax_focal_loss_test
