#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::nary_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Op(const std::string& type, int inputs, const std::string& output = "Y") {
  std::string text = "type: \"" + type + "\" output: \"" + output + "\"";
  for (int i = 0; i < inputs; ++i) text += " input: \"X" + std::to_string(i) + "\"";
  return text;
}

TEST(SumTest, AddsAnyNumberOfInputsOfEveryType) {
  Workspace ws;
  Feed<float>(&ws, "X0", {2}, {1, 2});
  Feed<float>(&ws, "X1", {2}, {10, 20});
  Feed<float>(&ws, "X2", {2}, {100, 200});
  RunOp(&ws, Op("Sum", 1));
  ExpectTensor<float>(ws, "Y", {2}, {1, 2});
  RunOp(&ws, Op("Sum", 3));
  ExpectTensor<float>(ws, "Y", {2}, {111, 222});
  ExpectShapeInferred(&ws, Op("Sum", 3));
  Feed<int64_t>(&ws, "X0", {1}, {int64_t{1} << 40});
  Feed<int64_t>(&ws, "X1", {1}, {1});
  RunOp(&ws, Op("Sum", 2));
  ExpectTensor<int64_t>(ws, "Y", {1}, {(int64_t{1} << 40) + 1});
  Feed<int32_t>(&ws, "X0", {1}, {std::numeric_limits<int32_t>::max()});
  Feed<int32_t>(&ws, "X1", {1}, {1});
  RunOp(&ws, Op("Sum", 2));
  ExpectTensor<int32_t>(ws, "Y", {1}, {std::numeric_limits<int32_t>::min()});
}

TEST(SumTest, AddsMoreElementsThanOneBlockHolds) {
  constexpr int64_t kCount = 5000;
  Workspace ws;
  for (const char* name : {"X0", "X1", "X2"}) FeedRange<double>(&ws, name, {kCount});
  std::vector<double> want;
  for (int64_t i = 0; i < kCount; ++i) want.push_back(3.0 * static_cast<double>(i));
  RunOp(&ws, Op("Sum", 3));
  ExpectTensor<double>(ws, "Y", {kCount}, want);
  RunOp(&ws, Op("Sum", 3, "X0"));
  ExpectTensor<double>(ws, "X0", {kCount}, want);
}

TEST(SumTest, AcceptsARepeatedBlob) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, R"(type: "Sum" input: "X" input: "X" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2}, {3, 6});
}

TEST(SumTest, RejectsOtherShapesTypesAndInPlaceInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X0", {2, 3});
  FeedRange<float>(&ws, "X1", {3, 2});
  ExpectThrows([&] { RunOp(&ws, Op("Sum", 2)); },
               "input 1 has shape [3, 2], want [2, 3] as input 0");
  FeedRange<double>(&ws, "X1", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("Sum", 2)); },
               "input 1 has elements of type double, want float as input 0");
  FeedRange<float>(&ws, "X1", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("Sum", 2, "X1")); }, "in place");
  FeedRange<uint8_t>(&ws, "X0", {1});
  ExpectThrows([&] { RunOp(&ws, Op("Sum", 1)); }, "Unsupported type of tensor: input 0");
}

TEST(NaryTest, KeepsEmptyShapes) {
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    Workspace ws;
    Feed<float>(&ws, "X0", {0, 3}, {});
    Feed<float>(&ws, "X1", {0, 3}, {});
    RunOp(&ws, Op(type, 2));
    ExpectTensor<float>(ws, "Y", {0, 3}, {});
    ExpectShapeInferred(&ws, Op(type, 2));
  }
}

TEST(MeanTest, DividesByTheNumberOfInputs) {
  Workspace ws;
  Feed<float>(&ws, "X0", {2}, {1, 2});
  Feed<float>(&ws, "X1", {2}, {5, 8});
  Feed<float>(&ws, "X2", {2}, {0, -4});
  RunOp(&ws, Op("Mean", 3));
  ExpectTensor<float>(ws, "Y", {2}, {2, 2}, 1e-6);
  RunOp(&ws, Op("Mean", 2, "X0"));
  ExpectTensor<float>(ws, "X0", {2}, {3, 5}, 1e-6);
  Feed<int32_t>(&ws, "X0", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Op("Mean", 1)); },
               "input 0 has elements of type int32, want float, double");
}

// Recorded from the original: a NaN in the first input is kept, and NaNs in later inputs are
// ignored.
TEST(MaxMinTest, ReturnTheExtremeOfAllInputs) {
  Workspace ws;
  Feed<float>(&ws, "X0", {5}, {kNaN, 1, kNaN, 2, 0});
  Feed<float>(&ws, "X1", {5}, {1, kNaN, kNaN, 3, -1});
  Feed<float>(&ws, "X2", {5}, {0, 0, 0, kNaN, 5});
  RunOp(&ws, Op("Max", 3));
  ExpectTensor<float>(ws, "Y", {5}, {kNaN, 1, kNaN, 3, 5});
  RunOp(&ws, Op("Min", 3));
  ExpectTensor<float>(ws, "Y", {5}, {kNaN, 0, kNaN, 2, -1});
}

TEST(MaxMinTest, RequireEqualNumbersOfElements) {
  Workspace ws;
  Feed<float>(&ws, "X0", {2, 1}, {1, 5});
  Feed<float>(&ws, "X1", {1, 2}, {4, 2});
  RunOp(&ws, Op("Max", 2));
  ExpectTensor<float>(ws, "Y", {2, 1}, {4, 5});
  Feed<float>(&ws, "X1", {3}, {4, 2, 1});
  ExpectThrows([&] { RunOp(&ws, Op("Min", 2)); }, "elements of input 1 of shape [3]");
  Feed<double>(&ws, "X0", {1}, {4});
  ExpectThrows([&] { RunOp(&ws, Op("Max", 1)); },
               "input 0 has elements of type double, want float");
}

TEST(MeanGradientTest, DividesByTheNumberOfOutputs) {
  Workspace ws;
  Feed<double>(&ws, "dY", {2}, {3, -6});
  const std::string op =
      R"(type: "MeanGradient" input: "dY" output: "D0" output: "D1" output: "D2")";
  ExpectShapeInferred(&ws, op);
  for (const char* name : {"D0", "D1", "D2"}) ExpectTensor<double>(ws, name, {2}, {1, -2}, 1e-15);
  Feed<float>(&ws, "dY", {1, 2}, {3, -6});
  RunOp(&ws, R"(type: "MeanGradient" input: "dY" output: "dY" output: "D1")");
  ExpectTensor<float>(ws, "dY", {1, 2}, {1.5f, -3});
  ExpectTensor<float>(ws, "D1", {1, 2}, {1.5f, -3});
  Feed<int32_t>(&ws, "dY", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); },
               "input 0 (dY) has elements of type int32, want float, double");
}

TEST(MeanGradientTest, FollowsTheShapeOfTheGradient) {
  for (const char* first : {"D0", "dY"}) {
    Workspace ws;
    Feed<float>(&ws, "dY", {2}, {2, 4});
    const auto op =
        CreateOperator(test::ParseOp(MakeString("type: 'MeanGradient' input: 'dY' output: '", first,
                                                "' output: 'D1'")),
                       &ws);
    ASSERT_TRUE(op->Run());
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{2, 2}, {4}, {1, 3}, {0, 5}, {3, 1}}) {
      const Tensor* const dY = test::FeedRange<float>(&ws, "dY", dims, 0, 2);
      std::vector<float> half;
      for (int64_t i = 0; i < dY->numel(); ++i) half.push_back(static_cast<float>(i));
      ASSERT_TRUE(op->Run());
      ExpectTensor<float>(ws, first, dims, half);
      ExpectTensor<float>(ws, "D1", dims, half);
    }
  }
}

// Every input that equals the result receives dY. NaN equals nothing.
TEST(MaxMinGradientTest, GoesToTheInputsThatEqualTheResult) {
  Workspace ws;
  Feed<float>(&ws, "Y", {2, 2}, {5, 2, kNaN, 7});
  Feed<float>(&ws, "dY", {2, 2}, {1, -2, 3, 4});
  Feed<float>(&ws, "X0", {2, 2}, {5, 1, kNaN, 7});
  Feed<float>(&ws, "X1", {4}, {0, 2, 0, 7});
  for (const char* type : {"Max", "Min"}) {
    const std::string op =
        std::string("type: \"") + type +
        R"(Gradient" input: "Y" input: "dY" input: "X0" input: "X1" output: "D0" output: "D1")";
    ExpectShapeInferred(&ws, op);
    ExpectTensor<float>(ws, "D0", {2, 2}, {1, 0, 0, 4});
    ExpectTensor<float>(ws, "D1", {4}, {0, -2, 0, 4});
  }
}

TEST(MaxMinGradientTest, RejectsOperandsThatDoNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "Y", {2});
  FeedRange<float>(&ws, "dY", {2});
  FeedRange<float>(&ws, "X", {3});
  const std::string op = R"(type: "MaxGradient" input: "Y" input: "dY" input: "X" output: "D")";
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 of shape [3], want at most as many");
  FeedRange<float>(&ws, "dY", {3});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 0 (Y) of shape [2], want as many");
  ExpectThrows([&] { RunOp(&ws, op + R"( output: "E")"); }, "outputs");
}

TEST(NaryGradientTest, IsThatOfTheFunction) {
  EXPECT_EQ(test::DescribeGradient(Op("Sum", 2)), " | Y_grad Y_grad");
  EXPECT_EQ(test::DescribeGradient(Op("Mean", 2)),
            "MeanGradient(Y_grad)->X0_grad,X1_grad | X0_grad X1_grad");
  EXPECT_EQ(test::DescribeGradient(Op("Max", 2)),
            "MaxGradient(Y,Y_grad,X0,X1)->X0_grad,X1_grad | X0_grad X1_grad");
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    Workspace ws;
    Feed<float>(&ws, "X0", {4}, {1, -1, 0.5f, 3});
    Feed<float>(&ws, "X1", {4}, {2, -2, 0.25f, -4});
    Feed<float>(&ws, "X2", {4}, {0, 1, 2, 3.5f});
    test::ExpectGradientMatches(&ws, Op(type, 3));
  }
}

TEST(NaryTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  uint32_t seed = 1;
  for (const char* name : {"A", "B", "C"}) test::FeedRandom(&ws, name, {99991}, -1, 1, seed++);
  for (const char* type : {"Sum", "Mean", "Max"}) {
    test::ExpectSameBitsForAllThreads(
        &ws, MakeString("type: \"", type, R"(" input: "A" input: "B" input: "C" output: "Y")"));
  }
}

// SumInt is Sum without a gradient, also of integers that wrap around.
TEST(NaryTest, SumIntAddsUpWithoutAGradient) {
  Workspace ws;
  Feed<int32_t>(&ws, "A", {2, 2}, {1, 2, 3, std::numeric_limits<int32_t>::max()});
  Feed<int32_t>(&ws, "B", {2, 2}, {10, 20, 30, 1});
  const std::string op = R"(type: "SumInt" input: "A" input: "B" output: )";
  RunOp(&ws, op + "\"Y\"");
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {11, 22, 33, std::numeric_limits<int32_t>::min()});
  ExpectShapeInferred(&ws, op + "\"Y\"");
  EXPECT_THROW(test::DescribeGradient(op + "\"Y\""), EnforceNotMet);
  RunOp(&ws, op + "\"A\"");
  ExpectTensor<int32_t>(ws, "A", {2, 2}, {11, 22, 33, std::numeric_limits<int32_t>::min()});
  Feed<int32_t>(&ws, "A", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op + "\"Y\""); }, "input 1 has shape [2, 2], want [2] as input 0");
}

}  // namespace
}  // namespace caffe2rt::nary_test
