#include <cmath>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::lrn_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

std::string Lrn(int size, float beta, const std::string& order, float alpha = 0.5f) {
  return R"(type: "LRN" input: "X" output: "Y" output: "S" arg { name: "bias" f: 2 }
            arg { name: "size" i: )" +
         std::to_string(size) + R"( } arg { name: "alpha" f: )" + std::to_string(alpha) +
         R"( } arg { name: "beta" f: )" + std::to_string(beta) + R"( } arg { name: "order" s: ")" +
         order + "\" }";
}

struct Case {
  int size;
  float beta;
  const char* order;
};
class LrnTest : public testing::TestWithParam<Case> {};

// Compares an input of [2, 7 channels, 30 x 30 positions], which is more than one tile, with the
// definition.
TEST_P(LrnTest, IsTheDefinition) {
  const Case c = GetParam();
  constexpr int kN = 2, kC = 7, kP = 900;
  const bool last = c.order == std::string("NHWC");
  const std::vector<int64_t> dims =
      last ? std::vector<int64_t>{kN, 30, 30, kC} : std::vector<int64_t>{kN, kC, 30, 30};
  Workspace ws;
  FeedRandom(&ws, "X", dims, -3, 3);
  const std::vector<float> x = Fetch<float>(ws, "X");
  const auto at = [last](int n, int channel, int p) {
    return last ? (n * kP + p) * kC + channel : (n * kC + channel) * kP + p;
  };
  std::vector<float> y(x.size()), scale(x.size());
  for (int n = 0; n < kN; ++n) {
    for (int p = 0; p < kP; ++p) {
      for (int i = 0; i < kC; ++i) {
        double sum = 0;
        for (int j = 0; j < kC; ++j) {
          const int first = i - (c.size - 1) / 2;
          if (j >= first && j < first + c.size) sum += x[at(n, j, p)] * x[at(n, j, p)];
        }
        const double s = 2 + 0.5 / c.size * sum;
        scale[at(n, i, p)] = static_cast<float>(s);
        y[at(n, i, p)] = static_cast<float>(x[at(n, i, p)] * std::pow(s, -c.beta));
      }
    }
  }
  RunOp(&ws, Lrn(c.size, c.beta, c.order));
  ExpectTensor<float>(ws, "Y", dims, y, 1e-5);
  ExpectTensor<float>(ws, "S", dims, scale, 1e-5);
  ExpectShapeInferred(&ws, Lrn(c.size, c.beta, c.order));
}
INSTANTIATE_TEST_SUITE_P(Windows, LrnTest,
                         testing::Values(Case{1, 0.75f, "NCHW"}, Case{2, 0.75f, "NCHW"},
                                         Case{5, 0.5f, "NCHW"}, Case{100, 1.0f, "NCHW"},
                                         Case{1, 0.5f, "NHWC"}, Case{4, 0.75f, "NHWC"},
                                         Case{5, 2.0f, "NHWC"}, Case{100, 0.75f, "NHWC"}));

TEST(LrnOutputTest, NeedsNoOutputForTheScale) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 1}, {2});
  RunOp(&ws, R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 1 }
                arg { name: "alpha" f: 2 } arg { name: "beta" f: 0.5 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {2.0f / 3}, 1e-6);  // 2 / sqrt(1 + 2 * 4)
}

TEST(LrnOutputTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 5, 3, 3}, {});
  RunOp(&ws, Lrn(3, 0.75f, "NCHW"));
  ExpectTensor<float>(ws, "Y", {0, 5, 3, 3}, {});
}

TEST(LrnOutputTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 5});
  ExpectThrows([&] { RunOp(&ws, Lrn(3, 0.75f, "NCHW")); }, "rank of input 0 (X) of shape [2, 5]");
  ExpectThrows([&] { RunOp(&ws, Lrn(0, 0.75f, "NCHW")); },
               R"(argument "size" is 0 in order NCHW, want at least 1)");
  ExpectThrows([&] { RunOp(&ws, Lrn(-1, 0.75f, "NHWC")); },
               R"(argument "size" is -1, want at least 1)");
  FeedRange<double>(&ws, "X", {1, 5, 1, 1});
  ExpectThrows([&] { RunOp(&ws, Lrn(3, 0.75f, "NCHW")); }, "double");
}

// X = 1, 2 with size 2, alpha 2, beta 1 and bias 1: the scales are 1 + 1 + 4 = 6 and 1 + 4 = 5.
TEST(LrnGradientTest, MirrorsTheWindowInNchwOnly) {
  const std::string op = R"(type: "LRNGradient" input: "X" input: "Y" input: "dY" output: "dX"
                            arg { name: "size" i: 2 } arg { name: "alpha" f: 2 }
                            arg { name: "beta" f: 1 })";
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 1}, {1, 2});
  Feed<float>(&ws, "Y", {1, 2, 1, 1}, {1 / 6.0f, 0.4f});
  Feed<float>(&ws, "dY", {1, 2, 1, 1}, {36, 25});
  ExpectShapeInferred(&ws, op);
  ExpectTensor<float>(ws, "dX", {1, 2, 1, 1}, {4, -7}, 1e-5);
  Feed<float>(&ws, "X", {1, 1, 1, 2}, {1, 2});
  RunOp(&ws, op + R"( arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 2}, {0, -3}, 1e-5);
  Feed<float>(&ws, "X", {0, 2, 1, 1}, {});
  Feed<float>(&ws, "Y", {0, 2, 1, 1}, {});
  Feed<float>(&ws, "dY", {0, 2, 1, 1}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 2, 1, 1}, {});
  Feed<float>(&ws, "dY", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 (dY) of shape [1]");
  Feed<float>(&ws, "X", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "rank of input 0 (X) of shape [2]");
}

TEST(LrnGradientTest, AgreesWithDifferences) {
  const struct {
    int size;
    float beta;
    const char* order;
  } kCases[] = {{1, 0.5f, "NCHW"}, {4, 0.75f, "NCHW"}, {5, 1, "NCHW"},
                {1, 0.5f, "NHWC"}, {3, 0.75f, "NHWC"}, {9, 1, "NHWC"}};
  Workspace ws;
  FeedRandom(&ws, "X", {1, 5, 1, 4}, -2, 2);
  for (const auto& c : kCases) {
    test::ExpectGradientMatches(&ws, Lrn(c.size, c.beta, c.order),
                                {.outputs_without_gradient = {"S"}});
  }
  EXPECT_EQ(
      test::DescribeGradient(R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 3 })"),
      "LRNGradient(X,Y,Y_grad)->X_grad size=3 | X_grad");
}

TEST(LRNTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 24, 27, 31}, -3, 3);
  for (const char* beta : {"0.75", "0.5", "0.3"}) {
    test::ExpectSameBitsForAllThreads(
        &ws, MakeString(R"(type: "LRN" input: "X" output: "Y" output: "scale"
                           arg { name: "size" i: 5 } arg { name: "alpha" f: 0.1 }
                           arg { name: "bias" f: 1 } arg { name: "beta" f: )",
                        beta, " }"));
  }
}

}  // namespace
}  // namespace caffe2rt::lrn_test
