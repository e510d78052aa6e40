#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sigmoid_cross_entropy_loss_test {
namespace {

const std::string kLoss =
    R"(type: "SigmoidCrossEntropyLoss" input: "X" input: "T" output: "loss" )";
const std::string kLossGradient =
    R"(type: "SigmoidCrossEntropyLossGradient" input: "X" input: "T" input: "d" output: "dX" )";
const std::string kSum = R"(arg { name: "normalize" i: 0 })";
const std::string kScale = R"(arg { name: "scale" f: 0.5 })";

TEST(SigmoidCrossEntropyLossTest, IsTheMeanOverTargetsThatAreNotIgnored) {
  const float half = std::log(2.0f);
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {0, 0, 5, 0});
  Feed<int32_t>(&ws, "T", {4}, {1, 0, -1, 0});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {half}, 1e-6);
  ExpectShapeInferred(&ws, kLoss);
  RunOp(&ws, kLoss + kSum + kScale);
  ExpectTensor<float>(ws, "loss", {}, {1.5f * half}, 1e-6);
  Feed<float>(&ws, "d", {}, {6});
  RunOp(&ws, kLossGradient);
  ExpectTensor<float>(ws, "dX", {4}, {-1, 1, 0, 1}, 1e-6);
  ExpectShapeInferred(&ws, kLossGradient);
  RunOp(&ws, kLossGradient + kSum + kScale);
  ExpectTensor<float>(ws, "dX", {4}, {-1.5f, 1.5f, 0, 1.5f}, 1e-6);
}

// The definition, in double.
TEST(SigmoidCrossEntropyLossTest, IsTheCrossEntropyOfTheSigmoid) {
  constexpr int64_t kCount = 20011;
  Workspace ws;
  FeedRandom(&ws, "X", {kCount}, -9, 9);
  std::vector<int32_t> targets;
  for (int32_t i = 0; i < kCount; ++i) targets.push_back(i % 7 % 3 - 1);
  Feed<int32_t>(&ws, "T", {kCount}, targets);
  Feed<float>(&ws, "d", {}, {1000});
  const std::vector<float> x = Fetch<float>(ws, "X");
  double sum = 0, count = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (targets[i] < 0) continue;
    const double p = 1 / (1 + std::exp(-static_cast<double>(x[i])));
    sum -= std::log(targets[i] == 1 ? p : 1 - p);
    ++count;
  }
  std::vector<float> gradient;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = 1 / (1 + std::exp(-static_cast<double>(x[i])));
    gradient.push_back(static_cast<float>(targets[i] < 0 ? 0 : 1000 * (p - targets[i]) / count));
  }
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {static_cast<float>(sum / count)}, 1e-6);
  RunOp(&ws, kLossGradient);
  ExpectTensor<float>(ws, "dX", {kCount}, gradient, 1e-6);
}

TEST(SigmoidCrossEntropyLossTest, IsAccurateForLargeLogits) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {20, -20, 300, -300});
  Feed<int32_t>(&ws, "T", {4}, {1, 0, 1, 0});
  RunOp(&ws, kLoss + kSum);
  EXPECT_NEAR(Fetch<float>(ws, "loss")[0], 2 * std::exp(-20.0), 1e-14);
  Feed<int32_t>(&ws, "T", {4}, {0, 1, 0, 1});
  RunOp(&ws, kLoss + kSum);
  ExpectTensor<float>(ws, "loss", {}, {640}, 1e-6);
}

TEST(SigmoidCrossEntropyLossTest, WithoutTargetsIsZero) {
  Workspace ws;
  Feed<float>(&ws, "d", {1}, {1});
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{0, 3}, {2}, {}}) {
    const size_t n = dims.empty() ? 1 : static_cast<size_t>(dims[0]);
    Feed<float>(&ws, "X", dims, std::vector<float>(n, NAN));
    Feed<int32_t>(&ws, "T", dims, std::vector<int32_t>(n, -1));
    for (const std::string& argument : {std::string(), kSum}) {
      RunOp(&ws, kLoss + argument);
      ExpectTensor<float>(ws, "loss", {}, {0});
      RunOp(&ws, kLossGradient + argument);
      ExpectTensor<float>(ws, "dX", dims, std::vector<float>(n, 0));
    }
  }
}

TEST(SigmoidCrossEntropyLossTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 6}, -3, 3);
  Feed<int32_t>(&ws, "T", {2, 6}, {0, 1, -1, 1, 0, 0, 1, 1, -1, 0, 1, 0});
  for (const std::string& argument : {std::string(), kSum + kScale}) {
    ExpectGradientMatches(&ws, kLoss + argument);
  }
  EXPECT_EQ(DescribeGradient(kLoss + kSum),
            "SigmoidCrossEntropyLossGradient(X,T,loss_grad)->X_grad normalize=0 | X_grad -");
}

TEST(SigmoidCrossEntropyLossTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3});
  Feed<int32_t>(&ws, "T", {2}, {1, 0});
  ExpectThrows([&] { RunOp(&ws, kLoss); },
               "elements of input 1 (targets) of shape [2], want as many as input 0 (X) of shape");
  ExpectThrows([&] { RunOp(&ws, kLoss + R"(arg { name: "normalize" i: 2 })"); },
               "argument \"normalize\" is 2, want 0 or 1");
  ExpectThrows([&] { RunOp(&ws, kLoss + R"(arg { name: "scale" f: -1 })"); },
               "argument \"scale\" is -1, want at least 0");
  Feed<int32_t>(&ws, "T", {3}, {1, 0, 1});
  Feed<float>(&ws, "d", {3}, {1, 0, 1});
  ExpectThrows([&] { RunOp(&ws, kLossGradient); }, "elements of input 2 (d_loss) of shape [3]");
  FeedRandom(&ws, "T", {3});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "int");
}

}  // namespace
}  // namespace caffe2rt::test::sigmoid_cross_entropy_loss_test
