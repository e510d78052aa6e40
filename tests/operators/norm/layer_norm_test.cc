#include <cmath>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::layer_norm_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

constexpr char kPlain[] = R"(type: "LayerNorm" input: "X" output: "Y" output: "m" output: "s"
                             arg { name: "epsilon" f: 1 })";
constexpr char kAffine[] = R"(type: "LayerNorm" input: "X" input: "g" input: "b"
                              output: "Y" output: "m" output: "s" arg { name: "epsilon" f: 1 }
                              arg { name: "elementwise_affine" i: 1 })";

template <class T>
class LayerNormTypeTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LayerNormTypeTest, Types);

// The rows {1, 3} and {7, 13} have means 2 and 10, and variances 1 and 9.
TYPED_TEST(LayerNormTypeTest, NormalizesRows) {
  using T = TypeParam;
  const T a = 1 / std::sqrt(T(2)), c = 1 / std::sqrt(T(10));
  Workspace ws;
  Feed<T>(&ws, "X", {2, 2}, {1, 3, 7, 13});
  RunOp(&ws, kPlain);
  ExpectTensor<T>(ws, "Y", {2, 2}, {-a, a, -3 * c, 3 * c}, 1e-6);
  ExpectTensor<T>(ws, "m", {2, 1}, {2, 10}, 1e-6);
  ExpectTensor<T>(ws, "s", {2, 1}, {std::sqrt(T(2)), std::sqrt(T(10))}, 1e-6);
  ExpectShapeInferred(&ws, kPlain);
  Feed<T>(&ws, "g", {2}, {1, 2});
  Feed<T>(&ws, "b", {2}, {5, 6});
  RunOp(&ws, kAffine);
  ExpectTensor<T>(ws, "Y", {2, 2}, {5 - a, 6 + 2 * a, 5 - 3 * c, 6 + 6 * c}, 1e-6);
  ExpectShapeInferred(&ws, kAffine);
}

TEST(LayerNormTest, CountsTheAxisFromEitherEnd) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 40});
  for (const auto& [axis, dims] : std::vector<std::pair<int, std::vector<int64_t>>>{
           {0, {1}}, {1, {2, 1}}, {2, {2, 3, 1}}, {-1, {2, 3, 1}}, {-3, {1}}}) {
    const std::string op =
        std::string(kPlain) + R"(arg { name: "axis" i: )" + std::to_string(axis) + "}";
    RunOp(&ws, op);
    EXPECT_EQ(test::DimsOf(ws, "m"), dims) << axis;
    ExpectShapeInferred(&ws, op);
  }
}

TEST(LayerNormTest, IgnoresGammaAndBetaUnlessAffine) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {1, 3});
  Feed<float>(&ws, "g", {1}, {100});
  RunOp(&ws, R"(type: "LayerNorm" input: "X" input: "g" input: "g" output: "Y" output: "m"
                output: "s" arg { name: "epsilon" f: 1 })");
  ExpectTensor<float>(ws, "Y", {1, 2}, {-1 / std::sqrt(2.0f), 1 / std::sqrt(2.0f)}, 1e-6);
}

TEST(LayerNormTest, EmptyRowsHaveMeanZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 0}, {});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "m", {2, 1}, {0, 0});
  ExpectTensor<float>(ws, "s", {2, 1}, {1, 1});
  Feed<float>(&ws, "X", {0, 4}, {});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "m", {0, 1}, {});
}

TEST(LayerNormTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<float>(&ws, "g", {2}, {1, 2});
  Feed<float>(&ws, "b", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, kAffine); }, "input 1 (gamma) of shape [2]");
  ExpectThrows([&] { RunOp(&ws, std::string(kPlain) + R"(arg { name: "axis" i: 2 })"); }, "axis");
  ExpectThrows(
      [&] { RunOp(&ws, std::string(kPlain) + R"(arg { name: "elementwise_affine" i: 1 })"); },
      "want 3 with elementwise_affine");
  FeedRange<float>(&ws, "X", {3});
  ExpectThrows([&] { RunOp(&ws, kPlain); }, "rank of input 0 (X) of shape [3]");
  FeedRange<int32_t>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kPlain); }, "int");
}

constexpr char kGradient[] = R"(type: "LayerNormGradient" input: "dY" input: "Y" input: "m"
                                input: "s" input: "X" output: "dX")";
constexpr char kAffineGradient[] =
    R"(type: "LayerNormGradient" input: "dY" input: "Y" input: "m" input: "s" input: "X" input: "g"
       output: "dX" output: "dg" output: "db" arg { name: "elementwise_affine" i: 1 })";

// The normal values of the rows are -0.5 0.5 and -1 1.
TEST(LayerNormGradientTest, SubtractsTheMeansOfTheGradient) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 3, 7, 11});
  Feed<float>(&ws, "Y", {1}, {0});
  Feed<float>(&ws, "dY", {2, 2}, {1, 2, 4, 0});
  Feed<float>(&ws, "m", {2, 1}, {2, 9});
  Feed<float>(&ws, "s", {2, 1}, {2, 2});
  Feed<float>(&ws, "g", {2}, {2, 1});
  ExpectShapeInferred(&ws, kGradient);
  // 0.5 * (dY - mean - normal * slope), with the means 1.5 and 2 and the slopes 0.25 and -2
  ExpectTensor<float>(ws, "dX", {2, 2}, {-0.1875f, 0.1875f, 0, 0}, 1e-6);
  ExpectShapeInferred(&ws, kAffineGradient);
  // With gamma, the means are 2 and 4, the slopes 0 and -4.
  ExpectTensor<float>(ws, "dX", {2, 2}, {0, 0, 0, 0}, 1e-6);
  ExpectTensor<float>(ws, "dg", {2}, {-0.5f - 4, 1}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {5, 2}, 1e-6);
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "dY", {0, 2}, {});
  Feed<float>(&ws, "m", {0, 1}, {});
  Feed<float>(&ws, "s", {0, 1}, {});
  RunOp(&ws, kAffineGradient);
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
  ExpectTensor<float>(ws, "dg", {2}, {0, 0});
}

TEST(LayerNormGradientTest, AgreesWithDifferences) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 2, 9}, -2, 3);
  test::FeedRandom(&ws, "g", {2, 9}, 0.5f, 2, 2);
  test::FeedRandom(&ws, "b", {2, 9}, -1, 1, 3);
  const test::GradientCheck check = {.outputs_without_gradient = {"m", "s"}};
  test::ExpectGradientMatches(&ws, kAffine, check);
  for (const char* axis : {"0", "1", "-1"}) {
    test::ExpectGradientMatches(
        &ws, std::string(kPlain) + " arg { name: \"axis\" i: " + axis + " }", check);
  }
  EXPECT_EQ(test::DescribeGradient(kPlain),
            "LayerNormGradient(Y_grad,Y,m,s,X)->X_grad epsilon=1 | X_grad");
  EXPECT_EQ(test::DescribeGradient(kAffine),
            "LayerNormGradient(Y_grad,Y,m,s,X,g)->X_grad,g_grad,b_grad epsilon=1 "
            "elementwise_affine=1 | X_grad g_grad b_grad");
}

TEST(LayerNormGradientTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  FeedRange<float>(&ws, "Y", {2, 2});
  FeedRange<float>(&ws, "dY", {2, 2});
  FeedRange<float>(&ws, "m", {2, 1});
  FeedRange<float>(&ws, "s", {3});
  FeedRange<float>(&ws, "g", {2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 3 (std) of shape [3]");
  ExpectThrows(
      [&] { RunOp(&ws, std::string(kGradient) + R"(arg { name: "elementwise_affine" i: 1 })"); },
      "want 6 and 3 with elementwise_affine");
}

}  // namespace
}  // namespace caffe2rt::layer_norm_test
