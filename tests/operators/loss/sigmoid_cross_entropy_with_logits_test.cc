#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sigmoid_cross_entropy_with_logits_test {
namespace {

const std::string kPlain =
    R"(type: "SigmoidCrossEntropyWithLogits" input: "X" input: "T" output: "Y")";
const std::string kPlainGradient =
    R"(type: "SigmoidCrossEntropyWithLogitsGradient" input: "dY" input: "X" input: "T" output: "dX")";
const std::string kWeighted =
    R"(type: "WeightedSigmoidCrossEntropyWithLogits" input: "X" input: "T" input: "W" output: "Y")";
const std::string kWeightedGradient = R"(type: "WeightedSigmoidCrossEntropyWithLogitsGradient"
    input: "dY" input: "X" input: "T" input: "W" output: "dX")";
const std::string kLogD = R"( arg { name: "log_D_trick" i: 1 })";
const std::string kUnjoined = R"( arg { name: "unjoined_lr_loss" i: 1 })";

// The losses of Caffe2, in double.
struct Variant {
  std::string argument;
  double (*loss)(double x, double t);
};
double LogOfSigmoid(double x) { return -std::log1p(std::exp(-x)); }
const Variant kVariants[] = {
    {"", [](double x, double t) { return -t * LogOfSigmoid(x) - (1 - t) * LogOfSigmoid(-x); }},
    {kLogD, [](double x, double t) { return -(2 * t - 1) * LogOfSigmoid(x); }},
    {kUnjoined, [](double x, double t) { return -t * x - (1 - t) * LogOfSigmoid(-x); }},
};

TEST(SigmoidCrossEntropyTest, IsTheMeanLossOfEachRow) {
  constexpr int64_t kRows = 2 * 3, kCols = 19;
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.argument);
    Workspace ws;
    FeedRandom(&ws, "X", {2, 3, kCols}, -9, 9, 1);
    FeedRandom(&ws, "T", {2, 3, kCols}, 0, 1, 2);
    const std::vector<float> x = Fetch<float>(ws, "X"), t = Fetch<float>(ws, "T");
    std::vector<float> want;
    for (int64_t i = 0; i < kRows; ++i) {
      double sum = 0;
      for (int64_t j = i * kCols; j < (i + 1) * kCols; ++j) {
        sum += variant.loss(x[static_cast<size_t>(j)], t[static_cast<size_t>(j)]);
      }
      want.push_back(static_cast<float>(sum / kCols));
    }
    RunOp(&ws, kPlain + variant.argument);
    ExpectTensor<float>(ws, "Y", {2, 3}, want, 1e-5);
    ExpectShapeInferred(&ws, kPlain + variant.argument);
  }
}

// A loss near 0 is not a difference of large numbers, and nothing overflows.
TEST(SigmoidCrossEntropyTest, IsAccurateForLargeLogits) {
  Workspace ws;
  Feed<float>(&ws, "X", {6, 1}, {12, -12, 12, -12, 200, -200});
  Feed<float>(&ws, "T", {6, 1}, {1, 0, 0, 1, 0, 0});
  RunOp(&ws, kPlain);
  const std::vector<float> y = Fetch<float>(ws, "Y");
  EXPECT_NEAR(y[0], 6.14419e-6, 1e-7);
  EXPECT_NEAR(y[1], 6.14419e-6, 1e-7);
  ExpectTensor<float>(ws, "Y", {6}, {y[0], y[1], 12.0000061f, 12.0000061f, 200, 0}, 1e-6);
  RunOp(&ws, kPlain + kLogD);
  EXPECT_NEAR(Fetch<float>(ws, "Y")[0], 6.14419e-6, 1e-7);
  FeedRange<float>(&ws, "dY", {6}, 1, 0);
  RunOp(&ws, kPlainGradient);
  ExpectTensor<float>(ws, "dX", {6, 1}, {0, 0, 1, -1, 1, 0}, 1e-5);
}

TEST(SigmoidCrossEntropyTest, AcceptsVectorsScalarsAndEmptyTensors) {
  Workspace ws;
  const float half = std::log(2.0f);
  Feed<float>(&ws, "X", {4}, {0, 0, 0, 0});
  Feed<float>(&ws, "T", {4}, {0, 1, 0.5f, 1});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {}, {half}, 1e-6);
  ExpectShapeInferred(&ws, kPlain);
  Feed<float>(&ws, "dY", {}, {8});
  RunOp(&ws, kPlainGradient);
  ExpectTensor<float>(ws, "dX", {4}, {1, -1, 0, -1});
  ExpectShapeInferred(&ws, kPlainGradient);
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{}, {0, 3}, {3, 0}, {0}}) {
    const int64_t n = dims.empty() ? 1 : 0;
    Feed<float>(&ws, "X", dims, std::vector<float>(static_cast<size_t>(n)));
    Feed<float>(&ws, "T", dims, std::vector<float>(static_cast<size_t>(n)));
    RunOp(&ws, kPlain);
    ExpectShapeInferred(&ws, kPlain);
    const std::vector<float> y = Fetch<float>(ws, "Y");
    for (const float value : y) EXPECT_NEAR(value, n == 1 ? half : 0, 1e-6);
    FeedRange<float>(&ws, "dY", DimsOf(ws, "Y"));
    RunOp(&ws, kPlainGradient);
    EXPECT_EQ(DimsOf(ws, "dX"), dims);
  }
}

TEST(SigmoidCrossEntropyTest, MultipliesByTheWeights) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0, 0, 0, 0});
  Feed<float>(&ws, "T", {2, 2}, {0, 1, 0.5f, 1});
  Feed<float>(&ws, "W", {2, 2}, {1, 3, 0, -4});
  RunOp(&ws, kWeighted);
  const float half = std::log(2.0f);
  ExpectTensor<float>(ws, "Y", {2}, {2 * half, -2 * half}, 1e-6);
  ExpectShapeInferred(&ws, kWeighted);
  Feed<float>(&ws, "dY", {2}, {4, 2});
  RunOp(&ws, kWeightedGradient);
  ExpectTensor<float>(ws, "dX", {2, 2}, {1, -3, 0, 2});
  ExpectShapeInferred(&ws, kWeightedGradient);
}

TEST(SigmoidCrossEntropyTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 20}, -3, 3, 1);
  FeedRandom(&ws, "T", {2, 20}, 0, 1, 2);
  FeedRandom(&ws, "W", {2, 20}, 0, 1, 3);
  for (const Variant& variant : kVariants) {
    ExpectGradientMatches(&ws, kPlain + variant.argument, {.inputs = {"X"}});
  }
  ExpectGradientMatches(&ws, kWeighted, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(kPlain),
            "SigmoidCrossEntropyWithLogitsGradient(Y_grad,X,T)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient(kWeighted),
            "WeightedSigmoidCrossEntropyWithLogitsGradient(Y_grad,X,T,W)->X_grad | X_grad - -");
}

TEST(SigmoidCrossEntropyTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 4});
  FeedRandom(&ws, "T", {3, 5});
  FeedRandom(&ws, "W", {4, 3});
  ExpectThrows([&] { RunOp(&ws, kPlain); },
               "input 1 (targets) has shape [3, 5], want [3, 4] as input 0 (logits)");
  ExpectThrows([&] { RunOp(&ws, kPlain + kLogD + kUnjoined); },
               "arguments log_D_trick and unjoined_lr_loss are both 1: remove one");
  FeedRandom(&ws, "T", {3, 4});
  FeedRandom(&ws, "dY", {4});
  ExpectThrows([&] { RunOp(&ws, kPlainGradient); }, "elements of input 0 (dY) of shape [4]");
  ExpectThrows([&] { RunOp(&ws, kWeighted); }, "input 2 (weights) has shape [4, 3], want [3, 4]");
  FeedRandom(&ws, "dY", {3});
  ExpectThrows([&] { RunOp(&ws, kWeightedGradient); }, "input 3 (weights) has shape [4, 3]");
}

}  // namespace
}  // namespace caffe2rt::test::sigmoid_cross_entropy_with_logits_test
