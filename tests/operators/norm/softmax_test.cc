#include <cmath>
#include <limits>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::softmax_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Softmax(int axis) {
  return R"(type: "Softmax" input: "X" output: "Y" arg { name: "axis" i: )" + std::to_string(axis) +
         " }";
}

// Compares rows of every length around the vector size with the definition, computed in double.
class SoftmaxRowTest : public testing::TestWithParam<int> {};

TEST_P(SoftmaxRowTest, IsTheDefinition) {
  const int n = GetParam();
  Workspace ws;
  constexpr int kRows = 37;
  FeedRandom(&ws, "X", {kRows, n}, -20, 20);
  const std::vector<float> x = Fetch<float>(ws, "X");
  std::vector<float> want(x.size());
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[r * n + i]));
    for (int i = 0; i < n; ++i) {
      want[r * n + i] = static_cast<float>(std::exp(static_cast<double>(x[r * n + i])) / sum);
    }
  }
  RunOp(&ws, Softmax(1));
  ExpectTensor<float>(ws, "Y", {kRows, n}, want, 1e-6);
  ExpectShapeInferred(&ws, Softmax(1));
}
INSTANTIATE_TEST_SUITE_P(Lengths, SoftmaxRowTest, testing::Values(1, 2, 15, 16, 17, 31, 33, 1000));

TEST(SoftmaxTest, FlattensEverythingFromTheAxisOn) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 1}, {0, 0, 1, 1});
  RunOp(&ws, Softmax(1));
  ExpectTensor<float>(ws, "Y", {2, 2, 1}, {0.5f, 0.5f, 0.5f, 0.5f}, 1e-7);
  RunOp(&ws, R"(type: "Softmax" input: "X" output: "default")");
  ExpectTensor<float>(ws, "default", {2, 2, 1}, {0.5f, 0.5f, 0.5f, 0.5f}, 1e-7);
  RunOp(&ws, Softmax(-1));
  ExpectTensor<float>(ws, "Y", {2, 2, 1}, {1, 1, 1, 1});
  RunOp(&ws, Softmax(0));
  const float e = std::exp(1.0f);
  ExpectTensor<float>(ws, "Y", {2, 2, 1},
                      {0.5f / (1 + e), 0.5f / (1 + e), 0.5f * e / (1 + e), 0.5f * e / (1 + e)},
                      1e-6);
}

TEST(SoftmaxTest, LargeNumbersDoNotOverflow) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {1000, 0, -1000});
  RunOp(&ws, Softmax(1));
  ExpectTensor<float>(ws, "Y", {1, 3}, {1, 0, 0});
}

// Without the subtraction of the maximum, the exponentials would underflow or overflow.
TEST(SoftmaxTest, AConstantAddedToARowChangesNothing) {
  for (const int64_t n : {3, 16, 40, 1000}) {
    Workspace ws;
    std::vector<float> x, want;
    for (const float offset : {-1000.f, 0.f, 1000.f}) {
      for (int64_t i = 0; i < n; ++i) {
        x.push_back(offset + (i == n - 1 ? 1.f : 0.f));
        const double e = std::exp(1.0), sum = e + static_cast<double>(n - 1);
        want.push_back(static_cast<float>((i == n - 1 ? e : 1.0) / sum));
      }
    }
    Feed<float>(&ws, "X", {3, n}, x);
    RunOp(&ws, Softmax(1));
    ExpectTensor<float>(ws, "Y", {3, n}, want, 1e-6);
  }
}

TEST(SoftmaxTest, ARowWithNaNOrInfinityIsNaN) {
  for (const int n : {3, 40}) {
    for (const int at : {0, n / 2, n - 1}) {
      for (const float bad : {kNaN, kInf}) {
        Workspace ws;
        std::vector<float> x(static_cast<size_t>(n), 1.0f);
        x[static_cast<size_t>(at)] = bad;
        Feed<float>(&ws, "X", {1, n}, x);
        RunOp(&ws, Softmax(1));
        ExpectTensor<float>(ws, "Y", {1, n}, std::vector<float>(x.size(), kNaN));
      }
    }
  }
}

TEST(SoftmaxTest, MinusInfinityCountsForNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0, -kInf, -kInf, -kInf});
  RunOp(&ws, Softmax(1));
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 0, kNaN, kNaN});
}

TEST(SoftmaxTest, EmptyTensorsStayEmpty) {
  Workspace ws;
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 4}, {2, 0}, {0, 0}}) {
    Feed<float>(&ws, "X", dims, {});
    RunOp(&ws, Softmax(1));
    ExpectTensor<float>(ws, "Y", dims, {});
  }
}

TEST(SoftmaxTest, RejectsInvalidAxesTypesAndInPlaceOutputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Softmax(2)); }, "axis");
  ExpectThrows([&] { RunOp(&ws, Softmax(-3)); }, "axis");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Softmax" input: "X" output: "X")"); }, "place");
  FeedRange<double>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Softmax(1)); }, "double");
}

constexpr char kGradient[] = R"(type: "SoftmaxGradient" input: "Y" input: "dY" output: "dX")";

TEST(SoftmaxGradientTest, IsTheDistanceFromTheMean) {
  Workspace ws;
  Feed<float>(&ws, "Y", {2, 3}, {0.25f, 0.25f, 0.5f, 1, 0, 0});
  Feed<float>(&ws, "dY", {2, 3}, {4, 0, 2, 5, 6, 7});
  ExpectShapeInferred(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0.5f, -0.5f, 0, 0, 0, 0}, 1e-6);
  Feed<float>(&ws, "Y", {3, 0}, {});
  Feed<float>(&ws, "dY", {3, 0}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {3, 0}, {});
  Feed<float>(&ws, "dY", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 1 (dY) of shape [1]");
}

TEST(SoftmaxGradientTest, AgreesWithDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 2, 9}, -2, 2);
  for (const int axis : {0, 1, -1}) test::ExpectGradientMatches(&ws, Softmax(axis));
  EXPECT_EQ(test::DescribeGradient(Softmax(1)),
            "SoftmaxGradient(Y,Y_grad)->X_grad axis=1 | X_grad");
}

TEST(SoftmaxTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  const std::vector<int64_t> shapes[] = {{5003, 7}, {1009, 100}, {3, 100003}};
  for (const std::vector<int64_t>& shape : shapes) {
    FeedRandom(&ws, "X", shape, -5, 5);
    FeedRandom(&ws, "dY", shape, -1, 1, 2);
    test::ExpectSameBitsForAllThreads(&ws, R"(type: "Softmax" input: "X" output: "Y")");
    test::ExpectSameBitsForAllThreads(
        &ws, R"(type: "SoftmaxGradient" input: "Y" input: "dY" output: "dX")");
  }
}

}  // namespace
}  // namespace caffe2rt::softmax_test
