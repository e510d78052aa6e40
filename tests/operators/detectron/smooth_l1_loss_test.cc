#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::smooth_l1_loss_test {
namespace {

const std::string kLoss =
    R"(type: "SmoothL1Loss" input: "P" input: "Y" input: "in" input: "out" output: "loss" )";
const std::string kLossGradient = R"(type: "SmoothL1LossGradient"
    input: "P" input: "Y" input: "in" input: "out" input: "d" output: "dP" )";
const std::string kScale = R"(arg { name: "scale" f: 2 })";

std::string Beta(float beta) { return R"(arg { name: "beta" f: )" + std::to_string(beta) + " }"; }

TEST(SmoothL1LossTest, IsQuadraticBelowBetaAndLinearAbove) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {1, 3, -2, 0.5f});
  Feed<float>(&ws, "Y", {2, 2}, {0.5f, 0, 0, 0.5f});
  Feed<float>(&ws, "in", {2, 2}, {1, 1, 2, 1});
  Feed<float>(&ws, "out", {2, 2}, {1, 0.5f, 1, 1});
  // 1/8 + 0.5 * 2.5 + 3.5 + 0, times 2 / 2.
  RunOp(&ws, kLoss + kScale);
  ExpectTensor<float>(ws, "loss", {}, {4.875f}, 1e-6);
  ExpectShapeInferred(&ws, kLoss);
  Feed<float>(&ws, "d", {1}, {2});
  RunOp(&ws, kLossGradient + kScale);
  ExpectTensor<float>(ws, "dP", {2, 2}, {1, 1, -4, 0}, 1e-6);
  ExpectShapeInferred(&ws, kLossGradient);
  // With beta 8 all differences are in the quadratic part: (0.25 + 4.5 + 16) / 16.
  RunOp(&ws, kLoss + kScale + Beta(8));
  ExpectTensor<float>(ws, "loss", {}, {20.75f / 16}, 1e-6);
}

// The sum in double, over more elements than a partial sum has.
TEST(SmoothL1LossTest, IsTheWeightedSumDividedByTheBatchSize) {
  constexpr int64_t kCount = 3 * 5077;
  Workspace ws;
  FeedRandom(&ws, "P", {3, kCount / 3}, -2, 2, 1);
  FeedRandom(&ws, "Y", {3, kCount / 3}, -2, 2, 2);
  FeedRandom(&ws, "in", {3, kCount / 3}, -1, 1, 3);
  FeedRandom(&ws, "out", {3, kCount / 3}, 0, 3, 4);
  Feed<float>(&ws, "d", {}, {-3});
  const std::vector<float> p = Fetch<float>(ws, "P"), y = Fetch<float>(ws, "Y");
  const std::vector<float> in = Fetch<float>(ws, "in"), out = Fetch<float>(ws, "out");
  for (const float beta : {0.11f, 1.0f, 2.5f}) {
    double sum = 0;
    std::vector<float> gradient;
    for (size_t i = 0; i < p.size(); ++i) {
      const double x = in[i] * (static_cast<double>(p[i]) - y[i]);
      const bool is_small = std::abs(x) < beta;
      sum += out[i] * (is_small ? x * x / (2 * beta) : std::abs(x) - beta / 2);
      const double slope = is_small ? x / beta : (x > 0 ? 1 : -1);
      gradient.push_back(static_cast<float>(-3 * 2.0 / 3 * out[i] * in[i] * slope));
    }
    RunOp(&ws, kLoss + kScale + Beta(beta));
    ExpectTensor<float>(ws, "loss", {}, {static_cast<float>(sum * 2 / 3)}, 1e-6);
    RunOp(&ws, kLossGradient + kScale + Beta(beta));
    ExpectTensor<float>(ws, "dP", {3, kCount / 3}, gradient, 1e-5);
  }
}

TEST(SmoothL1LossTest, OfNoElementsIsZero) {
  Workspace ws;
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{0, 4}, {4, 0}, {0}}) {
    for (const char* name : {"P", "Y", "in", "out"}) Feed<float>(&ws, name, dims, {});
    RunOp(&ws, kLoss);
    ExpectTensor<float>(ws, "loss", {}, {0});
    Feed<float>(&ws, "d", {}, {1});
    RunOp(&ws, kLossGradient);
    ExpectTensor<float>(ws, "dP", dims, {});
  }
}

TEST(SmoothL1LossTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRange<float>(&ws, "P", {3, 4}, -1.4, 0.25);
  FeedRange<float>(&ws, "Y", {3, 4}, 0, 0);
  FeedRandom(&ws, "in", {3, 4}, 0.5, 2, 2);
  FeedRandom(&ws, "out", {3, 4}, 0.5, 2, 3);
  for (const float beta : {0.01f, 50.0f}) ExpectGradientMatches(&ws, kLoss + kScale + Beta(beta));
  EXPECT_EQ(DescribeGradient(kLoss),
            "SmoothL1LossGradient(P,Y,in,out,loss_grad)->P_grad | P_grad - - -");
}

TEST(SmoothL1LossTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  for (const char* name : {"P", "Y", "in", "out"}) FeedRandom(&ws, name, {2, 3});
  FeedRandom(&ws, "d", {2});
  ExpectThrows([&] { RunOp(&ws, kLossGradient); }, "elements of input 4 (d_loss) of shape [2]");
  ExpectThrows([&] { RunOp(&ws, kLoss + Beta(0)); }, "argument \"beta\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, kLoss + R"(arg { name: "scale" f: -1 })"); },
               "argument \"scale\" is -1, want at least 0");
  int place = 1;
  for (const char* name : {"Y", "in", "out"}) {
    FeedRandom(&ws, name, {2, 2});
    ExpectThrows([&] { RunOp(&ws, kLoss); }, "elements of input " + std::to_string(place++));
    FeedRandom(&ws, name, {3, 2});  // the shape does not matter
  }
  RunOp(&ws, kLoss);
  for (const char* name : {"P", "Y", "in", "out"}) FeedRandom(&ws, name, {});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "rank of input 0 (Y_hat)");
  Feed<int32_t>(&ws, "Y", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "float");
}

}  // namespace
}  // namespace caffe2rt::test::smooth_l1_loss_test
