#include "caffe2_core/base/thread_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::fc_test {

namespace {

TEST(FCTest, MultipliesRowsByWeightsAndAddsTheBias) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "W", {2, 3}, {1, 0, 0, 1, 1, 1});
  Feed<float>(&ws, "b", {2}, {10, 20});
  const char* op = R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {11, 26, 14, 35});
  ExpectShapeInferred(&ws, op);
}

TEST(FCTransposedTest, AcceptsWeightsByColumns) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {1, 2});
  Feed<float>(&ws, "W", {2, 3}, {1, 2, 3, 10, 20, 30});
  Feed<float>(&ws, "b", {3}, {0, 0, 1});
  const char* op = R"(type: "FCTransposed" input: "X" input: "W" input: "b" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 3}, {21, 42, 64});
  ExpectShapeInferred(&ws, op);
}

TEST(FCTest, FlattensAtItsAxes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 2}, 1);
  Feed<float>(&ws, "W", {1, 2, 1}, {1, 1});
  Feed<float>(&ws, "b", {1}, {0});
  const char* op =
      R"(type: "FC" input: "X" input: "W" input: "b" output: "Y" arg { name: "axis" i: -1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2, 1}, {3, 7, 11, 15});
  ExpectShapeInferred(&ws, op);
}

TEST(FCTest, ReturnsTheBiasIfKIsZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "W", {3, 0}, {});
  Feed<float>(&ws, "b", {3}, {1, 2, 3});
  RunOp(&ws, R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 3}, {1, 2, 3, 1, 2, 3});
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "W", {3, 2}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {0, 2}, {});
  Feed<float>(&ws, "b", {0}, {});
  RunOp(&ws, R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
}

TEST(FCTest, ReportsIncompatibleShapes) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4});
  FeedRandom(&ws, "W", {4, 3});
  FeedRandom(&ws, "b", {4});
  const auto run = [&ws](const char* args) {
    return [&ws, args] {
      RunOp(&ws, std::string(R"(type: "FC" input: "X" input: "W" input: "b" output: "Y" )") + args);
    };
  };
  ExpectThrows(run(""), "has rows of 4");
  FeedRandom(&ws, "X", {2, 3});
  ExpectThrows(run(R"(arg { name: "axis" i: 3 })"), "");
  FeedRandom(&ws, "b", {5});
  ExpectThrows(run(""), "input 2 (b) has shape [5], want [4]");
  FeedRandom(&ws, "b", {4, 1});
  ExpectThrows(run(""), "input 2 (b) has shape [4, 1]");
  FeedRange<double>(&ws, "b", {4});
  ExpectThrows(run(""), "double");
}

class FCSizeTest : public testing::TestWithParam<std::tuple<bool, int, int, int>> {};

TEST_P(FCSizeTest, GivesTheSumOfProductsOnAnyNumberOfThreads) {
  const auto [transposed, m, n, k] = GetParam();
  Workspace ws;
  FeedRandom(&ws, "X", {m, k}, -1, 1, 1);
  FeedRandom(&ws, "W", transposed ? std::vector<int64_t>{k, n} : std::vector<int64_t>{n, k}, -1, 1,
             2);
  FeedRandom(&ws, "b", {n}, -1, 1, 3);
  const auto x = Fetch<float>(ws, "X"), w = Fetch<float>(ws, "W"), b = Fetch<float>(ws, "b");
  std::vector<float> want;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = b[static_cast<size_t>(j)];
      for (int p = 0; p < k; ++p) {
        sum += double{x[static_cast<size_t>(i * k + p)]} *
               w[static_cast<size_t>(transposed ? p * n + j : j * k + p)];
      }
      want.push_back(static_cast<float>(sum));
    }
  }
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws, MakeString(R"(type: ")", transposed ? "FCTransposed" : "FC",
                          R"(" input: "X" input: "W" input: "b" output: "Y")"));
    SetNumThreads(1);
    ExpectTensor<float>(ws, "Y", {m, n}, want, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FCSizeTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 3, 40),
                                          testing::Values(1, 10, 130),
                                          testing::Values(1, 7, 150, 600)));

// X W^T + b with X = [[1 2] [3 4]], W = [[1 0] [2 1] [0 3]].
TEST(FCGradientTest, MultipliesTheGradientByTheOtherOperand) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {3, 2}, {1, 0, 2, 1, 0, 3});
  Feed<float>(&ws, "dY", {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string inputs = R"( input: "X" input: "W" input: "dY" output: "dW" output: "db")";
  const std::string op = R"(type: "FCGradient")" + inputs;
  RunOp(&ws, op + R"( output: "dX")");
  ExpectTensor<float>(ws, "dW", {3, 2}, {13, 18, 17, 24, 21, 30});
  ExpectTensor<float>(ws, "db", {3}, {5, 7, 9});
  ExpectTensor<float>(ws, "dX", {2, 2}, {5, 11, 14, 23});
  ExpectShapeInferred(&ws, op + R"( output: "dX")");
  ExpectShapeInferred(&ws, op);

  Feed<float>(&ws, "W", {2, 3}, {1, 2, 0, 0, 1, 3});
  const std::string transposed = R"(type: "FCTransposedGradient")" + inputs;
  RunOp(&ws, transposed + R"( output: "dX")");
  ExpectTensor<float>(ws, "dW", {2, 3}, {13, 17, 21, 18, 24, 30});
  ExpectTensor<float>(ws, "db", {3}, {5, 7, 9});
  ExpectTensor<float>(ws, "dX", {2, 2}, {5, 11, 14, 23});
  ExpectShapeInferred(&ws, transposed + R"( output: "dX")");
}

TEST(FCGradientTest, AcceptsSizesOfZero) {
  const std::string op = R"(type: "FCGradient" input: "X" input: "W" input: "dY"
      output: "dW" output: "db" output: "dX")";
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "W", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "dY", {0, 3}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dW", {3, 2}, {0, 0, 0, 0, 0, 0});
  ExpectTensor<float>(ws, "db", {3}, {0, 0, 0});
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "W", {3, 0}, {});
  Feed<float>(&ws, "dY", {2, 3}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dW", {3, 0}, {});
  ExpectTensor<float>(ws, "db", {3}, {5, 7, 9});
  ExpectTensor<float>(ws, "dX", {2, 0}, {});
  Feed<float>(&ws, "X", {1, 2}, {1, 2});
  Feed<float>(&ws, "W", {0, 2}, {});
  Feed<float>(&ws, "dY", {1, 0}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {1, 2}, {0, 0});
}

TEST(FCGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4});
  FeedRandom(&ws, "W", {3, 3});
  FeedRandom(&ws, "dY", {2, 2});
  const auto run = [&] {
    RunOp(&ws, R"(type: "FCGradient" input: "X" input: "W" input: "dY" output: "dW" output: "db")");
  };
  ExpectThrows(run, "has rows of 4");
  FeedRandom(&ws, "W", {3, 4});
  ExpectThrows(run, "elements of input 2 (dY) of shape [2, 2], want 2 * 3");
}

TEST(FCGradientTest, IsTheDerivative) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 2}, -1, 1, 1);
  FeedRandom(&ws, "W", {2, 2, 6}, -1, 1, 2);
  FeedRandom(&ws, "b", {4}, -1, 1, 3);
  const std::string inputs = R"( input: "X" input: "W" input: "b" output: "Y")";
  ExpectGradientMatches(&ws, R"(type: "FC")" + inputs + R"( arg { name: "axis_w" i: 2 })");
  FeedRandom(&ws, "W", {2, 2, 2}, -1, 1, 2);
  ExpectGradientMatches(&ws, R"(type: "FCTransposed")" + inputs + R"( arg { name: "axis" i: -1 })");
}

// The loops are divided between the threads.
TEST(FCGradientTest, DoesNotDependOnTheNumberOfThreads) {
  Workspace ws;
  FeedRandom(&ws, "X", {96, 80}, -1, 1, 1);
  FeedRandom(&ws, "W", {128, 80}, -1, 1, 2);
  FeedRandom(&ws, "dY", {96, 128}, -1, 1, 3);
  const char* op = R"(type: "FCGradient" input: "X" input: "W" input: "dY"
      output: "dW" output: "db" output: "dX")";
  SetNumThreads(1);
  RunOp(&ws, op);
  const std::vector<float> dw = Fetch<float>(ws, "dW"), dx = Fetch<float>(ws, "dX");
  SetNumThreads(3);
  RunOp(&ws, op);
  SetNumThreads(1);
  ExpectTensor<float>(ws, "dW", {128, 80}, dw, 1e-5);
  ExpectTensor<float>(ws, "dX", {96, 80}, dx, 1e-5);
}

}  // namespace
}  // namespace caffe2rt::test::fc_test
