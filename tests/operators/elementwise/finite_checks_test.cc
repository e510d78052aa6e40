#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::finite_checks_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NanCheckTest, HandsFiniteNumbersOn) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, -2});
  Feed<float>(&ws, "other", {1}, {kInfinity});
  RunOp(&ws, R"(type: "NanCheck" input: "X" input: "other" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2}, {1, -2});
  ExpectShapeInferred(&ws, R"(type: "NanCheck" input: "X" output: "Y")");
  RunOp(&ws, R"(type: "NanCheck" input: "X" output: "X")");
  ExpectTensor<float>(ws, "X", {2}, {1, -2});
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, R"(type: "NanCheck" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0}, {});
}

TEST(NanCheckTest, NamesTheFirstNumberThatIsNotFinite) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, -kInfinity, kInfinity});
  ExpectThrows([&] { RunOp(&ws, R"(type: "NanCheck" input: "X" output: "Y")"); },
               "input 0 (X) of shape [3] holds -inf at element 1, want finite numbers");
  Feed<double>(&ws, "X", {0}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "NanCheck" input: "X" output: "Y")"); }, "double");
}

TEST(EnforceFiniteTest, AcceptsFloatsAndDoubles) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  RunOp(&ws, R"(type: "EnforceFinite" input: "X")");
  Feed<double>(&ws, "X", {2}, {1, std::numeric_limits<double>::quiet_NaN()});
  ExpectThrows([&] { RunOp(&ws, R"(type: "EnforceFinite" input: "X")"); },
               "holds nan at element 1");
  Feed<int32_t>(&ws, "X", {0}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "EnforceFinite" input: "X")"); },
               "input 0 (X) has elements of type int32, want float, double");
}

TEST(NanCheckGradientTest, ChecksTheGradient) {
  EXPECT_EQ(test::DescribeGradient(R"(type: "NanCheck" input: "X" input: "Z" output: "Y")"),
            "NanCheck(Y_grad)->X_grad | X_grad -");
  ExpectThrows([] { test::DescribeGradient(R"(type: "EnforceFinite" input: "X")", {{}}); },
               "One should not call gradient for operator EnforceFinite");
}

}  // namespace
}  // namespace caffe2rt::finite_checks_test
