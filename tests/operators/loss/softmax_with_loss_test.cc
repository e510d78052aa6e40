#include <cmath>
#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::softmax_with_loss_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::GradientCheck;
using test::RunOp;

// An operator with the inputs X, L and, with `weights`, W.
std::string Loss(const std::string& type, bool weights = false, const std::string& args = "") {
  return "type: \"" + type + R"(" input: "X" input: "L" )" + (weights ? R"(input: "W" )" : "") +
         R"(output: "P" output: "Z" )" + args;
}
std::string Gradient(const std::string& type, bool weights = false, const std::string& args = "") {
  return "type: \"" + type + R"(Gradient" input: "X" input: "L" )" +
         (weights ? R"(input: "W" )" : "") + R"(input: "P" input: "dZ" output: "dX" )" + args;
}
const std::string kPlain = "SoftmaxWithLoss", kSpatial = "SpatialSoftmaxWithLoss";

std::string Arg(const std::string& name, int value) {
  return " arg { name: \"" + name + "\" i: " + std::to_string(value) + " }";
}
const std::string kHalf = R"( arg { name: "scale" f: 0.5 })";

// The logarithms of 1, 1, 2 and of 1, 3, 4: the probabilities are 1/4 1/4 1/2 and 1/8 3/8 1/2.
void FeedRows(Workspace* ws) {
  const float log2 = std::log(2.0f), log3 = std::log(3.0f);
  Feed<float>(ws, "X", {2, 3}, {0, 0, log2, 0, log3, 2 * log2});
  Feed<int32_t>(ws, "L", {2}, {0, 2});
  Feed<float>(ws, "W", {2}, {3, 2});
  Feed<float>(ws, "P", {2, 3}, {0.25f, 0.25f, 0.5f, 0.125f, 0.375f, 0.5f});
  Feed<float>(ws, "dZ", {}, {8});
}

TEST(SoftmaxWithLossTest, AveragesTheCrossEntropy) {
  // The cross entropies of the two rows are 2 log 2 and log 2.
  const float log2 = std::log(2.0f);
  const struct {
    bool weights;
    std::string args;
    float loss;
  } kCases[] = {
      {false, "", 1.5f * log2},
      {false, kHalf, 0.75f * log2},
      {true, "", 8 * log2 / 5},
      {true, Arg("average_by_batch_size", 1), 4 * log2},
      {false, Arg("only_loss", 1) + Arg("axis", -1), 1.5f * log2},
  };
  for (const auto& c : kCases) {
    Workspace ws;
    FeedRows(&ws);
    ExpectShapeInferred(&ws, Loss(kPlain, c.weights, c.args));
    ExpectTensor<float>(ws, "P", {2, 3}, {0.25f, 0.25f, 0.5f, 0.125f, 0.375f, 0.5f}, 1e-6);
    ExpectTensor<float>(ws, "Z", {}, {c.loss}, 1e-6);
  }
}

TEST(SoftmaxWithLossTest, AcceptsLabelsAndClassesOfManyDims) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  Feed<int32_t>(&ws, "L", {2, 2, 1}, {0, 1, 1, 0});
  RunOp(&ws, Loss(kPlain, false, Arg("axis", 2)));
  ExpectTensor<float>(ws, "Z", {}, {std::log(2.0f)}, 1e-6);
  Feed<int32_t>(&ws, "L", {2}, {3, 2});
  RunOp(&ws, Loss(kPlain));
  ExpectTensor<float>(ws, "Z", {}, {std::log(4.0f)}, 1e-6);
}

TEST(SoftmaxWithLossTest, AcceptsLabelProbabilities) {
  Workspace ws;
  FeedRows(&ws);
  Feed<float>(&ws, "L", {2, 3}, {0.5f, 0, 0.5f, 1, 0, 0});
  const float log2 = std::log(2.0f);
  RunOp(&ws, Loss(kPlain, false, Arg("label_prob", 1)));
  ExpectTensor<float>(ws, "Z", {}, {(1.5f * log2 + 3 * log2) / 2}, 1e-6);
  RunOp(&ws, Gradient(kPlain, true, Arg("label_prob", 1)));
  // (P - L) * W * 8 / 5
  ExpectTensor<float>(ws, "dX", {2, 3}, {-1.2f, 1.2f, 0, -2.8f, 1.2f, 1.6f}, 1e-6);
}

// The probabilities are 0 or denormal.
TEST(SoftmaxWithLossTest, UnlikelyLabelsHaveTheirExactLoss) {
  const struct {
    std::vector<float> x;
    int32_t label;
    float loss;
  } kCases[] = {
      {{0, -1000, -2000}, 1, 1000},
      {{-95, 0, -1000}, 0, 95},
      {{3, 1, -87}, 2, 90.126928f},     // 3 + log(1 + exp(-2)) + 87
      {{100, 100, 10}, 2, 90.693147f},  // 90 + log(2)
      {{1e30f, -1e30f, 0}, 1, 2e30f},
      {{46, 0, 0}, 1, 46},
      {{47, 0, 0}, 1, 47},
  };
  for (const auto& c : kCases) {
    Workspace ws;
    Feed<float>(&ws, "X", {1, 3}, c.x);
    Feed<int32_t>(&ws, "L", {1}, {c.label});
    RunOp(&ws, Loss(kPlain));
    ExpectTensor<float>(ws, "Z", {}, {c.loss}, 1e-6);
  }
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0, -1000, 0, -50});
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  Feed<float>(&ws, "W", {2}, {1, 4});
  RunOp(&ws, Loss(kPlain, true, kHalf));
  ExpectTensor<float>(ws, "Z", {}, {120}, 1e-6);  // (1000 + 4 * 50) / 5 / 2
}

TEST(SoftmaxWithLossTest, ProbabilitiesOfPositionsAndLabelProbabilitiesCountAsAtLeast1E20) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {0, -1000});
  Feed<float>(&ws, "L", {1, 2}, {0, 1});
  RunOp(&ws, Loss(kPlain, false, Arg("label_prob", 1)));
  ExpectTensor<float>(ws, "Z", {}, {20 * std::log(10.0f)}, 1e-5);
  Feed<float>(&ws, "X", {1, 2, 1, 1}, {0, -1000});
  Feed<int32_t>(&ws, "L", {1, 1, 1}, {1});
  RunOp(&ws, Loss(kSpatial));
  ExpectTensor<float>(ws, "Z", {}, {20 * std::log(10.0f)}, 1e-5);
}

TEST(SoftmaxWithLossTest, NoWeightAndNoRowsMeanNoLoss) {
  Workspace ws;
  FeedRows(&ws);
  Feed<float>(&ws, "W", {2}, {0, 0});
  RunOp(&ws, Loss(kPlain, true));
  ExpectTensor<float>(ws, "Z", {}, {0});
  RunOp(&ws, Gradient(kPlain, true));
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, Loss(kPlain));
  ExpectTensor<float>(ws, "P", {0, 3}, {});
  ExpectTensor<float>(ws, "Z", {}, {0});
  RunOp(&ws, Gradient(kPlain));
  ExpectTensor<float>(ws, "dX", {0, 3}, {});
}

TEST(SoftmaxWithLossGradientTest, IsTheDifferenceFromTheLabel) {
  const struct {
    bool weights;
    std::string args;
    std::vector<float> dx;
  } kCases[] = {
      {false, "", {-3, 1, 2, 0.5f, 1.5f, -2}},  // (P - label) * 8 / 2
      {false, kHalf, {-1.5f, 0.5f, 1, 0.25f, 0.75f, -1}},
      {true, "", {-3.6f, 1.2f, 2.4f, 0.4f, 1.2f, -1.6f}},
      {true, Arg("average_by_batch_size", 1), {-9, 3, 6, 1, 3, -4}},
  };
  for (const auto& c : kCases) {
    Workspace ws;
    FeedRows(&ws);
    ExpectShapeInferred(&ws, Gradient(kPlain, c.weights, c.args));
    ExpectTensor<float>(ws, "dX", {2, 3}, c.dx, 1e-6);
  }
}

// Only the loss has a gradient.
const GradientCheck kLossOnly = {.inputs = {"X"}, .outputs_without_gradient = {"P"}};

TEST(SoftmaxWithLossGradientTest, AgreesWithDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 20}, -2, 2);
  Feed<int32_t>(&ws, "L", {3}, {0, 19, 7});
  Feed<float>(&ws, "W", {3}, {0.5f, 2, 1});
  ExpectGradientMatches(&ws, Loss(kPlain, true, kHalf), kLossOnly);
  EXPECT_EQ(test::DescribeGradient(Loss(kPlain, true, kHalf)),
            "SoftmaxWithLossGradient(X,L,W,P,Z_grad)->X_grad scale=0.5 | X_grad - -");
  Feed<float>(&ws, "L", {3, 20}, std::vector<float>(60, 0.05f));
  ExpectGradientMatches(&ws, Loss(kPlain, false, Arg("label_prob", 1)), kLossOnly);
}

TEST(SoftmaxWithLossTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRows(&ws);
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, false, Arg("axis", 2))); }, "axis");
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, false, R"(arg { name: "order" s: "NHWC" })")); },
               R"(argument "order" is "NHWC", want NCHW)");
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, false, R"(arg { name: "scale" f: -1 })")); },
               R"(argument "scale" is -1, want at least 0)");
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, false, Arg("label_prob", 1))); },
               "input 1 (labels) has shape [2], input 0 (X) [2, 3], want a probability");
  Feed<float>(&ws, "W", {3}, {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, true)); }, "elements of input 2 (weights)");
  Feed<int32_t>(&ws, "L", {3}, {0, 0, 0});
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain)); }, "want one label for each row");
  Feed<int64_t>(&ws, "L", {2}, {0, 0});
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain)); }, "int64");
  FeedRows(&ws);
  Feed<float>(&ws, "dZ", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, Gradient(kPlain)); }, "(gradient of the loss)");
  FeedRange<float>(&ws, "P", {2});
  ExpectThrows([&] { RunOp(&ws, Gradient(kPlain)); }, "elements of input 2 (softmax)");
}

// On CUDA, values are reported later (loss_cuda_test.cc).
TEST(SoftmaxWithLossTest, NamesInvalidLabels) {
  Workspace ws;
  FeedRows(&ws);
  for (const int32_t label : {-1, 3}) {
    Feed<int32_t>(&ws, "L", {2}, {0, label});
    const std::string text = std::to_string(label) + ", want 0 to below 3 classes";
    ExpectThrows([&] { RunOp(&ws, Loss(kPlain)); }, text);
    ExpectThrows([&] { RunOp(&ws, Gradient(kPlain)); }, text);
  }
  Feed<float>(&ws, "L", {2, 3}, {1, 0, 0, 0.5f, 0.25f, 0});
  ExpectThrows([&] { RunOp(&ws, Loss(kPlain, false, Arg("label_prob", 1))); },
               "the label probabilities of row 1 do not add up to 1");
}

// Two images of three channels and two positions, with the probabilities 1/4 1/4 1/2 at each.
void FeedImages(Workspace* ws) {
  const float log2 = std::log(2.0f);
  Feed<float>(ws, "X", {2, 3, 1, 2}, {0, 1, 0, 1, log2, 1 + log2, 2, 3, 2, 3, 2 + log2, 3 + log2});
  Feed<int32_t>(ws, "L", {2, 1, 2}, {0, 2, -1, 1});
  Feed<float>(ws, "W", {2, 1, 2}, {1, 2, 100, 5});
  const float a = 0.25f, b = 0.5f;
  Feed<float>(ws, "P", {2, 3, 1, 2}, {a, a, a, a, b, b, a, a, a, a, b, b});
  Feed<float>(ws, "dZ", {}, {12});
}

TEST(SpatialSoftmaxWithLossTest, LeavesOutPositionsWithLabelMinusOne) {
  const float log2 = std::log(2.0f);
  Workspace ws;
  FeedImages(&ws);
  ExpectShapeInferred(&ws, Loss(kSpatial));
  const float a = 0.25f, b = 0.5f;
  ExpectTensor<float>(ws, "P", {2, 3, 1, 2}, {a, a, a, a, b, b, a, a, a, a, b, b}, 1e-6);
  ExpectTensor<float>(ws, "Z", {}, {5 * log2 / 3}, 1e-6);
  // The scale has no effect on the loss.
  RunOp(&ws, Loss(kSpatial, true, kHalf));
  ExpectTensor<float>(ws, "Z", {}, {(2 + 2 + 10) * log2 / 8}, 1e-6);
}

TEST(SpatialSoftmaxWithLossGradientTest, IsZeroAtPositionsWithLabelMinusOne) {
  Workspace ws;
  FeedImages(&ws);
  ExpectShapeInferred(&ws, Gradient(kSpatial));
  ExpectTensor<float>(ws, "dX", {2, 3, 1, 2}, {-3, 1, 1, 1, 2, -2, 0, 1, 0, -3, 0, 2}, 1e-6);
  RunOp(&ws, Gradient(kSpatial, true, kHalf));  // * weight * 12 * 0.5 / 8
  ExpectTensor<float>(
      ws, "dX", {2, 3, 1, 2},
      {-0.5625f, 0.375f, 0.1875f, 0.375f, 0.375f, -0.75f, 0, 0.9375f, 0, -2.8125f, 0, 1.875f},
      1e-6);
}

TEST(SpatialSoftmaxWithLossGradientTest, AgreesWithDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 3, 6}, -2, 2);
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < 36; ++i) labels.push_back(i % 4 - 1);
  Feed<int32_t>(&ws, "L", {2, 3, 6}, labels);
  FeedRandom(&ws, "W", {2, 3, 6}, 0.5f, 2, 3);
  ExpectGradientMatches(&ws, Loss(kSpatial, true), kLossOnly);
  EXPECT_EQ(test::DescribeGradient(Loss(kSpatial)),
            "SpatialSoftmaxWithLossGradient(X,L,P,Z_grad)->X_grad | X_grad -");
}

TEST(SpatialSoftmaxWithLossTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedImages(&ws);
  Feed<int32_t>(&ws, "L", {2, 2}, {0, 0, 0, 0});
  ExpectThrows([&] { RunOp(&ws, Loss(kSpatial)); }, "rank of input 1 (labels) of shape [2, 2]");
  Feed<int32_t>(&ws, "L", {2, 2, 1}, {0, 0, 0, 0});
  ExpectThrows([&] { RunOp(&ws, Loss(kSpatial)); }, "want the same N, H and W");
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Loss(kSpatial)); }, "rank of input 0 (X) of shape [2, 3]");
}

}  // namespace
}  // namespace caffe2rt::softmax_with_loss_test
