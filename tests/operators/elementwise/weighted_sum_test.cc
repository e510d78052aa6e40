#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::weighted_sum_test {
namespace {

// The operator for `count` inputs X0, W0, X1, W1, ....
std::string Forward(int count, const std::string& output = "Y") {
  std::string text = R"(type: "WeightedSum" output: ")" + output + "\"";
  for (int k = 0; k < count; ++k) {
    text += MakeString(" input: \"X", k, "\" input: \"W", k, "\"");
  }
  return text;
}

TEST(WeightedSumTest, AddsWeightedTensors) {
  // CUDA adds up to eight inputs at a time.
  for (const int count : {1, 2, 3, 9, 17}) {
    SCOPED_TRACE(count);
    Workspace ws;
    for (int k = 0; k < count; ++k) {
      FeedRange<float>(&ws, MakeString("X", k), {2, 21}, k, 1);
      const std::vector<int64_t> dims(static_cast<size_t>(k % 2), 1);
      Feed<float>(&ws, MakeString("W", k), dims, {static_cast<float>(k % 3 - 1)});
    }
    std::vector<float> want;
    for (int i = 0; i < 42; ++i) {
      float sum = 0;
      for (int k = 0; k < count; ++k) sum += static_cast<float>((k + i) * (k % 3 - 1));
      want.push_back(sum);
    }
    RunOp(&ws, Forward(count));
    ExpectTensor<float>(ws, "Y", {2, 21}, want);
    ExpectShapeInferred(&ws, Forward(count));
    RunOp(&ws, Forward(count, "X0"));
    ExpectTensor<float>(ws, "X0", {2, 21}, want);
  }
}

TEST(WeightedSumTest, AcceptsEmptyTensorsAndManyElements) {
  Workspace ws;
  Feed<float>(&ws, "W0", {1}, {2});
  Feed<float>(&ws, "W1", {}, {-1});
  Feed<float>(&ws, "X0", {0, 2}, {});
  Feed<float>(&ws, "X1", {0, 2}, {});
  RunOp(&ws, Forward(2));
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  FeedRange<float>(&ws, "X0", {5000});
  FeedRange<float>(&ws, "X1", {5000}, 1, 2);
  RunOp(&ws, Forward(2));
  ExpectTensor<float>(ws, "Y", {5000}, std::vector<float>(5000, -1));
}

TEST(WeightedSumTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X0", {2, 3});
  FeedRange<float>(&ws, "X1", {2, 2});
  Feed<float>(&ws, "W0", {1}, {1});
  Feed<float>(&ws, "W1", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, Forward(2)); },
               "elements of input 2 of shape [2, 2], want as many as input 0 of shape [2, 3]");
  FeedRange<float>(&ws, "X1", {6});
  ExpectThrows([&] { RunOp(&ws, Forward(2)); }, "elements of input 3 (a weight) of shape [2]");
  ExpectThrows([&] { RunOp(&ws, Forward(2, "X1")); }, "in place");
  ExpectThrows([&] { RunOp(&ws, Forward(1) + R"( input: "X1")"); }, "inputs");
}

TEST(WeightedSumGradientTest, ScalesTheGradientByTheWeights) {
  Workspace ws;
  Feed<float>(&ws, "X0", {2}, {1, 2});
  Feed<float>(&ws, "X1", {2}, {3, -4});
  Feed<float>(&ws, "W0", {}, {10});
  Feed<float>(&ws, "W1", {1}, {-2});
  Feed<float>(&ws, "dY", {2}, {5, 6});
  const std::string op = R"(type: "WeightedSumGradient" input: "dY" input: "X0" input: "W0"
      input: "X1" input: "W1" output: "dX0" output: "dX1")";
  const std::string on_weights = R"( output: "dW0" output: "dW1" arg { name: "grad_on_w" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX0", {2}, {50, 60});
  ExpectTensor<float>(ws, "dX1", {2}, {-10, -12});
  RunOp(&ws, op + on_weights);
  ExpectTensor<float>(ws, "dW0", {1}, {17});
  ExpectTensor<float>(ws, "dW1", {1}, {-9});
  ExpectShapeInferred(&ws, op + on_weights);
  ExpectThrows([&] { RunOp(&ws, op + R"( output: "Z")"); }, "number of outputs for 5 inputs");
  Feed<float>(&ws, "X1", {3}, {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, op + on_weights); },
               "elements of input 3 of shape [3], want as many as input 0 (dY) of shape [2]");
}

// Each weight and each operand is checked, and nothing is written before.
TEST(WeightedSumTest, NamesTheInputThatDoesNotFit) {
  for (const int pair : {0, 1, 2}) {
    SCOPED_TRACE(pair);
    Workspace ws;
    for (int k = 0; k < 3; ++k) {
      Feed<float>(&ws, MakeString("X", k), {2}, {1, 2});
      Feed<float>(&ws, MakeString("W", k), {1}, {1});
    }
    Feed<float>(&ws, "Y", {2}, {8, 9});
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2}, {0}}) {
      FeedRange<float>(&ws, MakeString("W", pair), dims);
      ExpectThrows(
          [&] { RunOp(&ws, Forward(3) + " device_option {}"); },
          MakeString("elements of input ", 2 * pair + 1, " (a weight) of shape [", dims[0], "]"));
    }
    Feed<double>(&ws, MakeString("W", pair), {1}, {1});
    ExpectThrows([&] { RunOp(&ws, Forward(3) + " device_option {}"); }, "double");
    Feed<float>(&ws, MakeString("W", pair), {1}, {1});
    FeedRange<float>(&ws, MakeString("X", pair), {3});
    ExpectThrows([&] { RunOp(&ws, Forward(3) + " device_option {}"); }, "want as many as input 0");
    ExpectTensor<float>(ws, "Y", {2}, {8, 9});
  }
}

TEST(WeightedSumGradientTest, IsTheDerivative) {
  Workspace ws;
  for (int k = 0; k < 3; ++k) {
    FeedRandom(&ws, MakeString("X", k), {3, 7}, -1, 1, static_cast<uint32_t>(k));
    FeedRandom(&ws, MakeString("W", k), {1}, -1, 1, static_cast<uint32_t>(k + 3));
  }
  ExpectGradientMatches(&ws, Forward(3), {.inputs = {"X0", "X1", "X2"}});
  ExpectGradientMatches(&ws, Forward(3) + R"( arg { name: "grad_on_w" i: 1 })");
  EXPECT_EQ(DescribeGradient(Forward(2)),
            "WeightedSumGradient(Y_grad,X0,W0,X1,W1)->X0_grad,X1_grad | X0_grad - X1_grad -");
  const std::string both = DescribeGradient(Forward(2) + R"( arg { name: "grad_on_w" i: 1 })");
  EXPECT_THAT(both, testing::HasSubstr("->X0_grad,X1_grad,W0_grad,W1_grad"));
  EXPECT_THAT(both, testing::HasSubstr("| X0_grad W0_grad X1_grad W1_grad"));
}

}  // namespace
}  // namespace caffe2rt::test::weighted_sum_test
