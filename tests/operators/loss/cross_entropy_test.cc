#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::cross_entropy_test {
namespace {

const char* const kByClass = R"(type: "LabelCrossEntropy" input: "X" input: "label" output: "Y")";
const char* const kByClassGradient =
    R"(type: "LabelCrossEntropyGradient" input: "X" input: "label" input: "dY" output: "dX")";
const char* const kDense = R"(type: "CrossEntropy" input: "X" input: "label" output: "Y")";
const char* const kDenseGradient =
    R"(type: "CrossEntropyGradient" input: "X" input: "label" input: "dY" output: "dX")";

// The cross entropy of the probability 0, which counts as 1e-20.
const float kLargest = static_cast<float>(20 * std::log(10.0));

TEST(LabelCrossEntropyTest, IsTheLogarithmOfTheProbabilityOfTheLabel) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {0.25f, 0.75f, 1, 0, 0.5f, 0.5f});
  Feed<int32_t>(&ws, "label", {3}, {0, 1, 1});
  RunOp(&ws, kByClass);
  const float half = std::log(2.0f);
  ExpectTensor<float>(ws, "Y", {3}, {2 * half, kLargest, half}, 1e-6);
  ExpectShapeInferred(&ws, kByClass);
  Feed<int32_t>(&ws, "label", {3, 1}, {0, 0, 1});
  RunOp(&ws, kByClass);
  ExpectTensor<float>(ws, "Y", {3}, {2 * half, 0, half}, 1e-6);
  // One row.
  Feed<float>(&ws, "X", {4}, {0.25f, 0.25f, 0, 0.5f});
  Feed<int32_t>(&ws, "label", {1}, {3});
  RunOp(&ws, kByClass);
  ExpectTensor<float>(ws, "Y", {1}, {half}, 1e-6);
  ExpectShapeInferred(&ws, kByClass);
  Feed<float>(&ws, "X", {0, 4}, {});
  Feed<int32_t>(&ws, "label", {0}, {});
  RunOp(&ws, kByClass);
  ExpectTensor<float>(ws, "Y", {0}, {});
}

TEST(LabelCrossEntropyTest, HasAGradientForTheLabelOnly) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {0.25f, 0.25f, 0.5f, 0.5f, 0, 0.5f});
  Feed<int32_t>(&ws, "label", {2}, {2, 1});
  Feed<float>(&ws, "dY", {2}, {3, -2});
  RunOp(&ws, kByClassGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 0, -6, 0, 2e20f, 0}, 1e-6);
  ExpectShapeInferred(&ws, kByClassGradient);
  Feed<float>(&ws, "X", {2, 3}, {0.25f, 0.25f, 0.5f, 0.5f, 0.25f, 0.5f});
  ExpectGradientMatches(&ws, kByClass, {.step = 1.0 / 256});
  EXPECT_EQ(DescribeGradient(kByClass),
            "LabelCrossEntropyGradient(X,label,Y_grad)->X_grad | X_grad -");
}

TEST(CrossEntropyTest, WeighsTheLogarithmsByTheLabels) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0.25f, 0.5f, 0, 1});
  Feed<float>(&ws, "label", {2, 2}, {0.5f, 1, 0.25f, 0.75f});
  RunOp(&ws, kDense);
  ExpectTensor<float>(ws, "Y", {2}, {2 * std::log(2.0f), kLargest / 4}, 1e-6);
  ExpectShapeInferred(&ws, kDense);
  Feed<float>(&ws, "dY", {2}, {2, -1});
  RunOp(&ws, kDenseGradient);
  ExpectTensor<float>(ws, "dX", {2, 2}, {-4, -4, 0.25e20f, 0.75f}, 1e-6);
  ExpectShapeInferred(&ws, kDenseGradient);
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "label", {0, 2}, {});
  RunOp(&ws, kDense);
  ExpectTensor<float>(ws, "Y", {0}, {});
}

TEST(CrossEntropyTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 20}, 0.4f, 1);
  FeedRandom(&ws, "label", {3, 20}, 0, 1, 2);
  ExpectGradientMatches(&ws, kDense, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(kDense), "CrossEntropyGradient(X,label,Y_grad)->X_grad | X_grad -");
}

TEST(CrossEntropyTest, RejectsLabelsThatAreNoProbabilities) {
  for (const float label : {1.5f, -0.5f, std::nanf("")}) {
    Workspace ws;
    Feed<float>(&ws, "X", {2, 2}, {0.25f, 0.5f, 0.5f, 0.5f});
    Feed<float>(&ws, "label", {2, 2}, {0, 1, 1, label});
    ExpectThrows([&] { RunOp(&ws, kDense); }, "input 1 (label)");
  }
}

TEST(CrossEntropyTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 4}, 0, 1);
  FeedRandom(&ws, "label", {3, 5});
  ExpectThrows(
      [&] { RunOp(&ws, kDense); },
      "input 1 (label) has shape [3, 5], want 4 probabilities for each row of input 0 (X)");
  FeedRandom(&ws, "label", {3});
  ExpectThrows([&] { RunOp(&ws, kDense); }, "elements of input 1 (label) of shape [3]");
  FeedRandom(&ws, "label", {2, 4});
  ExpectThrows([&] { RunOp(&ws, kDense); }, "dim 0 of input 1 (label) of shape [2, 4]");
  Feed<int32_t>(&ws, "label", {3, 2}, {0, 0, 0, 0, 0, 0});
  ExpectThrows([&] { RunOp(&ws, kByClass); }, "input 1 (label) has shape [3, 2], want 1 label");
  Feed<int32_t>(&ws, "label", {3}, {0, 3, 4});
  ExpectThrows([&] { RunOp(&ws, kByClass); }, "want at least 0 and below 4, the number of classes");
  Feed<float>(&ws, "dY", {3}, {1, 1, 1});
  Feed<int32_t>(&ws, "label", {3}, {0, -1, 3});
  ExpectThrows([&] { RunOp(&ws, kByClassGradient); }, "input 1 (label) is -1 in row 1");
  Feed<float>(&ws, "dY", {1, 3}, {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kByClassGradient); }, "input 2 (dY) has shape [1, 3], want [3]");
  Feed<int64_t>(&ws, "label", {3}, {0, 0, 0});
  ExpectThrows([&] { RunOp(&ws, kByClass); }, "int");
}

}  // namespace
}  // namespace caffe2rt::test::cross_entropy_test
