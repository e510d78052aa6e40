#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::dropout_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::Fetch;
using test::RunOp;

std::string Op(const std::string& args, const std::string& outputs = R"(output: "Y" output: "M")") {
  return R"(type: "Dropout" input: "X" )" + outputs + " " + args;
}
const char* const kTest = "arg { name: \"is_test\" i: 1 }";
const char* const kTrain = "arg { name: \"is_test\" i: 0 }";

TEST(DropoutTest, IsTheIdentityInTestMode) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, -2});
  RunOp(&ws, Op(kTest, "output: \"Y\""));
  ExpectTensor<float>(ws, "Y", {2}, {1, -2});
  RunOp(&ws, Op(kTest, "output: \"X\""));
  ExpectTensor<float>(ws, "X", {2}, {1, -2});
  ExpectShapeInferred(&ws, Op(kTest, "output: \"Y\""));
}

TEST(DropoutTest, LeavesItsMaskAloneInTestMode) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  RunOp(&ws, Op(kTest));
  EXPECT_FALSE(ws.GetBlob("M")->IsType<Tensor>());
}

TEST(DropoutTest, KeepsAndScalesTheShareThatItDoesNotDrop) {
  constexpr int64_t kCount = 10000;
  Workspace ws;
  Feed<float>(&ws, "X", {kCount}, std::vector<float>(kCount, 3));
  RunOp(&ws, Op(std::string(kTrain) +
                "arg { name: \"ratio\" f: 0.25 } device_option { random_seed: 1 }"));
  const std::vector<float> y = Fetch<float>(ws, "Y");
  const std::vector<bool> mask = Fetch<bool>(ws, "M");
  int64_t kept = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    kept += mask[i];
    EXPECT_FLOAT_EQ(y[i], mask[i] ? 4.0f : 0.0f);
  }
  // Six standard deviations (43) around 7500.
  EXPECT_NEAR(static_cast<double>(kept), 7500, 260);
}

TEST(DropoutTest, DropsNothingAtRatioZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, -2});
  const std::string op = Op(std::string(kTrain) + "arg { name: \"ratio\" f: 0 }");
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2}, {1, -2});
  ExpectTensor<bool>(ws, "M", {2}, {true, true});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, op);
  ExpectTensor<bool>(ws, "M", {0, 3}, {});
}

TEST(DropoutTest, RejectsUnsupportedInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Op("")); }, "is_test");
  ExpectThrows([&] { RunOp(&ws, Op(kTrain, "output: \"Y\"")); }, "outputs of Dropout in training");
  ExpectThrows([&] { RunOp(&ws, Op(std::string(kTest) + "arg { name: \"ratio\" f: 1 }")); },
               "argument \"ratio\" is 1, want at least 0 and below 1");
  ExpectThrows([&] { RunOp(&ws, Op(std::string(kTest) + "arg { name: \"ratio\" f: nan }")); },
               "argument \"ratio\" is nan");
  Feed<double>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Op(kTest)); }, "double");
}

TEST(DropoutGradTest, KeepsWhatTheMaskKeeps) {
  const std::string op = R"(type: "DropoutGrad" input: "dY" input: "M" output: "dX" )";
  Workspace ws;
  Feed<float>(&ws, "dY", {5}, {1, -2, 3, -4, 5});
  Feed<bool>(&ws, "M", {5}, {true, false, false, true, true});
  ExpectShapeInferred(&ws, op);
  ExpectTensor<float>(ws, "dX", {5}, {2, 0, 0, -8, 10});
  RunOp(&ws, op + R"(arg { name: "ratio" f: 0.75 } arg { name: "is_test" i: 0 })");
  ExpectTensor<float>(ws, "dX", {5}, {4, 0, 0, -16, 20});
  RunOp(&ws, R"(type: "DropoutGrad" input: "dY" output: "dX" arg { name: "is_test" i: 1 })");
  ExpectTensor<float>(ws, "dX", {5}, {1, -2, 3, -4, 5});
  RunOp(&ws, R"(type: "DropoutGrad" input: "dY" input: "M" output: "dY")");
  ExpectTensor<float>(ws, "dY", {5}, {2, 0, 0, -8, 10});
  Feed<bool>(&ws, "M", {4}, {true, true, true, true});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (mask) of shape [4], want as many");
  ExpectThrows([&] { RunOp(&ws, R"(type: "DropoutGrad" input: "dY" output: "dX")"); },
               "inputs of DropoutGrad in training (is_test 0), want dY and mask");
  Feed<float>(&ws, "dY", {0, 2}, {});
  Feed<bool>(&ws, "M", {0, 2}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
}

TEST(DropoutGradTest, ReadsTheMaskOnlyInTraining) {
  EXPECT_EQ(test::DescribeGradient(Op(kTest, "output: \"Y\"")),
            "DropoutGrad(Y_grad)->X_grad is_test=1 | X_grad");
  EXPECT_EQ(test::DescribeGradient(Op(kTrain)), "DropoutGrad(Y_grad,M)->X_grad is_test=0 | X_grad");
  ExpectThrows([] { test::DescribeGradient(Op(kTrain, "output: \"Y\"")); }, "requests output 1");
}

}  // namespace
}  // namespace caffe2rt::dropout_test
