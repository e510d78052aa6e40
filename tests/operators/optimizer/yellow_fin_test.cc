#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::yellow_fin_test {
namespace {

constexpr char kYellowFin[] = R"(type: "YellowFin" input: "P" input: "M" input: "lr" input: "mu"
    input: "W" input: "A" input: "A2" input: "S" input: "G" input: "N" output: "P" output: "M"
    output: "lr" output: "mu" output: "W" output: "A" output: "A2" output: "S"
    arg { name: "beta" f: 0.5 } arg { name: "curv_win_width" i: 2 })";

void FeedState(Workspace* ws) {
  Feed<float>(ws, "P", {2}, {1, 2});
  Feed<float>(ws, "M", {2}, {0, 0});
  Feed<float>(ws, "lr", {1}, {0.125f});
  Feed<float>(ws, "mu", {1}, {0.5f});
  Feed<float>(ws, "W", {2}, {0, 0});
  Feed<float>(ws, "A", {2}, {0, 0});
  Feed<float>(ws, "A2", {2}, {0, 0});
  Feed<float>(ws, "S", {5}, {0, 0, 0, 0, 0});
}

void RunIteration(Workspace* ws, int64_t iteration, const std::vector<float>& grad,
                  const std::string& more = "") {
  Feed<float>(ws, "G", {2}, grad);
  Feed<int64_t>(ws, "N", {1}, {iteration});
  RunOp(ws, kYellowFin + more);
}

// The numbers of iterations 2 and 3 were computed in Python from the paper, with the root of the
// cubic found by bisection.
TEST(YellowFinTest, TunesTheRateAndTheMomentumFromTheSecondIterationOn) {
  Workspace ws;
  FeedState(&ws);
  RunIteration(&ws, 1, {3, 4});
  ExpectTensor<float>(ws, "P", {2}, {0.625f, 1.5f}, 1e-6);
  ExpectTensor<float>(ws, "M", {2}, {0.375f, 0.5f}, 1e-6);
  ExpectTensor<float>(ws, "lr", {1}, {0.125f});
  ExpectTensor<float>(ws, "mu", {1}, {0.5f});
  ExpectTensor<float>(ws, "W", {2}, {std::log(25.0f), 0}, 1e-6);
  ExpectTensor<float>(ws, "A", {2}, {1.5f, 2}, 1e-6);
  ExpectTensor<float>(ws, "A2", {2}, {4.5f, 8}, 1e-6);
  const float half = std::log(25.0f) / 2;
  ExpectTensor<float>(ws, "S", {5}, {2.5f, 12.5f, half, half, 0.1f}, 1e-6);

  RunIteration(&ws, 2, {1, 2});
  ExpectTensor<float>(ws, "P", {2}, {0.3125f, 1}, 1e-6);
  ExpectTensor<float>(ws, "lr", {1}, {0.09216297f}, 1e-5);
  ExpectTensor<float>(ws, "mu", {1}, {0.29141426f}, 1e-5);
  ExpectTensor<float>(ws, "S", {5}, {2.368034f, 8.75f, 1.6094379f, 2.4141569f, 0.18531623f}, 1e-5);

  RunIteration(&ws, 3, {2, -1});
  ExpectTensor<float>(ws, "P", {2}, {0.03710711f, 0.94645584f}, 1e-5);
  ExpectTensor<float>(ws, "lr", {1}, {0.07183818f}, 1e-5);
  ExpectTensor<float>(ws, "mu", {1}, {0.23844127f}, 1e-5);
  ExpectTensor<float>(ws, "W", {2}, {std::log(5.0f), std::log(5.0f)}, 1e-6);
  ExpectShapeInferred(&ws, kYellowFin);
}

TEST(YellowFinTest, LooksAheadWithNesterov) {
  Workspace ws;
  FeedState(&ws);
  Feed<float>(&ws, "M", {2}, {2, 0});
  RunIteration(&ws, 1, {8, 0}, R"( arg { name: "nesterov" i: 1 })");
  ExpectTensor<float>(ws, "M", {2}, {2, 0});
  ExpectTensor<float>(ws, "P", {2}, {-1, 2});  // 1 - (1.5 * 2 - 0.5 * 2)
}

TEST(YellowFinTest, BoundsTheNormOfTheGradientFromBelow) {
  Workspace ws;
  FeedState(&ws);
  RunIteration(&ws, 1, {0, 0}, R"( arg { name: "epsilon" f: 0.25 })");
  ExpectTensor<float>(ws, "W", {2}, {std::log(0.25f), 0}, 1e-6);
  ExpectTensor<float>(ws, "S", {5}, {0.25f, 0.125f, std::log(0.5f), std::log(0.5f), 1}, 1e-6);
}

// The algorithm of the paper in double, with the root of the cubic found by bisection.
struct YellowFinReference {
  double beta, epsilon;
  bool nesterov, zero_debias;
  std::vector<double> p{1, 2}, m{0, 0}, mean{0, 0}, square{0, 0}, window{}, memory{0, 0, 0, 0, 0};
  double rate = 0.125, momentum = 0.5;
  int64_t iteration = 0;
  bool by_range = false;  // whether the range of the curvature decided on the momentum

  double Average(double before, double value) const { return beta * before + (1 - beta) * value; }
  void Step(const std::vector<float>& grad) {
    ++iteration;
    const double debias = zero_debias ? 1 / (1 - std::pow(beta, iteration)) : 1;
    double squares = 0, mean_squares = 0;
    for (size_t i = 0; i < 2; ++i) {
      const double g = grad[i], before = m[i];
      m[i] = momentum * before + rate * g;
      p[i] -= nesterov ? (1 + momentum) * m[i] - momentum * before : m[i];
      mean[i] = Average(mean[i], g);
      square[i] = Average(square[i], g * g);
      squares += g * g;
      mean_squares += mean[i] * debias * mean[i] * debias;
    }
    const double norm2 = std::max(squares, epsilon);
    const size_t width = window.size();
    window[static_cast<size_t>(iteration - 1) % width] = std::log(norm2);
    const auto end = window.begin() + std::min<int64_t>(iteration, static_cast<int64_t>(width));
    memory[0] = Average(memory[0], std::sqrt(norm2));
    memory[1] = Average(memory[1], norm2);
    memory[2] = Average(memory[2], *std::min_element(window.begin(), end));
    memory[3] = Average(memory[3], *std::max_element(window.begin(), end));
    memory[4] = Average(memory[4], memory[0] / memory[1]);
    if (iteration == 1) return;
    Tune(std::exp(memory[2] * debias), std::exp(memory[3] * debias), memory[4] * debias,
         std::max(memory[1] * debias - mean_squares, epsilon));
  }
  void Tune(double least, double most, double distance, double variance) {
    const double factor = std::pow(distance * least, 2) / (2 * variance);
    double low = 0, high = 1;
    for (int i = 0; i < 100; ++i) {
      const double x = (low + high) / 2;
      (std::pow(1 - x, 3) > factor * x ? low : high) = x;
    }
    const double ratio = std::sqrt(most / least), range = (ratio - 1) / (ratio + 1);
    by_range = range > low;
    const double root = std::max(low, range);
    momentum = Average(momentum, root * root);
    rate = Average(rate, std::pow(1 - root, 2) / least);
  }
};

void ExpectNumbers(const Workspace& ws, const char* blob, const std::vector<double>& want) {
  const std::vector<float> got = Fetch<float>(ws, blob);
  ASSERT_EQ(got.size(), want.size()) << blob;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-3 * std::max(std::abs(want[i]), 1e-6)) << blob << " " << i;
}

struct YellowFinRun {
  const char* args;
  YellowFinReference reference;  // with the same arguments
  int64_t width;
  std::vector<std::vector<float>> grads;
  bool by_range;  // in the last iteration
};

TEST(YellowFinTest, FollowsThePaper) {
  const std::vector<std::vector<float>> mixed = {{3, 4}, {1, 2}, {2, -1}, {0.5f, 0.6f}, {5, -2}};
  const std::vector<std::vector<float>> falling = {{10, 10}, {1, 1}, {1, 1}, {1, 1},
                                                   {1, 1},   {1, 1}, {1, 1}, {1, 1}};
  const YellowFinRun runs[] = {
      {"", {0.999f, 1e-6f, false, true}, 20, mixed, false},
      {"arg { name: 'beta' f: 0.5 }", {0.5, 1e-6f, false, true}, 20, falling, true},
      {"arg { name: 'beta' f: 0.5 } arg { name: 'zero_debias' i: 0 } "
       "arg { name: 'curv_win_width' i: 3 }",
       {0.5, 1e-6f, false, false},
       3,
       mixed,
       false},
      {"arg { name: 'beta' f: 0.75 } arg { name: 'nesterov' i: 1 } arg { name: 'epsilon' f: 4 } "
       "arg { name: 'curv_win_width' i: 1 }",
       {0.75, 4, true, true},
       1,
       mixed,
       false},
  };
  for (const YellowFinRun& run : runs) {
    SCOPED_TRACE(run.args);
    YellowFinReference want = run.reference;
    want.window.resize(static_cast<size_t>(run.width));
    Workspace ws;
    FeedState(&ws);
    Feed<float>(&ws, "W", {run.width}, std::vector<float>(static_cast<size_t>(run.width)));
    for (const std::vector<float>& grad : run.grads) {
      want.Step(grad);
      SCOPED_TRACE(want.iteration);
      Feed<float>(&ws, "G", {2}, grad);
      Feed<int64_t>(&ws, "N", {1}, {want.iteration});
      RunOp(&ws,
            std::string("type: 'YellowFin' input: 'P' input: 'M' input: 'lr' input: 'mu' input: "
                        "'W' input: 'A' input: 'A2' input: 'S' input: 'G' input: 'N' output: 'P' "
                        "output: 'M' output: 'lr' output: 'mu' output: 'W' output: 'A' "
                        "output: 'A2' output: 'S' ") +
                run.args);
      ExpectNumbers(ws, "P", want.p);
      ExpectNumbers(ws, "M", want.m);
      ExpectNumbers(ws, "lr", {want.rate});
      ExpectNumbers(ws, "mu", {want.momentum});
      ExpectNumbers(ws, "W", want.window);
      ExpectNumbers(ws, "A", want.mean);
      ExpectNumbers(ws, "A2", want.square);
      ExpectNumbers(ws, "S", want.memory);
    }
    EXPECT_EQ(want.by_range, run.by_range);
  }
}

TEST(YellowFinTest, LeavesItsInputsUnlessInPlace) {
  Workspace ws;
  FeedState(&ws);
  Feed<float>(&ws, "G", {2}, {3, 4});
  Feed<int64_t>(&ws, "N", {1}, {1});
  RunOp(&ws, R"(type: "YellowFin" input: "P" input: "M" input: "lr" input: "mu" input: "W"
      input: "A" input: "A2" input: "S" input: "G" input: "N" output: "p" output: "m" output: "r"
      output: "u" output: "w" output: "a" output: "b" output: "s" arg { name: "beta" f: 0.5 }
      arg { name: "curv_win_width" i: 2 })");
  ExpectTensor<float>(ws, "p", {2}, {0.625f, 1.5f}, 1e-6);
  ExpectTensor<float>(ws, "P", {2}, {1, 2});
  ExpectTensor<float>(ws, "w", {2}, {std::log(25.0f), 0}, 1e-6);
  ExpectTensor<float>(ws, "W", {2}, {0, 0});
  ExpectTensor<float>(ws, "r", {1}, {0.125f});
  ExpectTensor<float>(ws, "u", {1}, {0.5f});
  ExpectTensor<float>(ws, "a", {2}, {1.5f, 2}, 1e-6);
  ExpectTensor<float>(ws, "A", {2}, {0, 0});
  ExpectTensor<float>(ws, "S", {5}, {0, 0, 0, 0, 0});
}

TEST(YellowFinTest, RejectsOtherSizesAndIterations) {
  Workspace ws;
  FeedState(&ws);
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunIteration(&ws, 0, {1, 2}); }, part);
  };
  rejects("the iteration, input 9 (iter)");
  Feed<float>(&ws, "S", {4}, {0, 0, 0, 0});
  rejects("elements of input 7 (scalars_memory) of shape [4]");
  Feed<float>(&ws, "A", {1}, {0});
  rejects("elements of input 5 (g_avg) of shape [1]");
  Feed<float>(&ws, "W", {3}, {0, 0, 0});
  rejects("elements of input 4 (curv_win) of shape [3], want curv_win_width");
  Feed<float>(&ws, "mu", {2}, {0, 0});
  rejects("elements of input 3 (mu) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::yellow_fin_test
