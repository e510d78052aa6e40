#include <cmath>

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
