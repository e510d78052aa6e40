#include <cmath>
#include <tuple>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::fc_fusion_test {
namespace {

constexpr char kOp[] = R"(type: "FCFusion" input: "X" input: "W" input: "b" output: "Y" )";
constexpr char kRelu[] = R"(arg { name: "activation" s: "Relu" } )";
constexpr char kTransposed[] = R"(arg { name: "transposed" i: 1 } )";

TEST(FCFusionTest, ReturnsTheActivatedProduct) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, -4, 5, 6});
  Feed<float>(&ws, "W", {2, 3}, {1, 0, 0, 1, 1, 1});
  Feed<float>(&ws, "b", {2}, {1, -20});
  const std::string op = std::string(kOp) + kRelu;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {2, 0, 0, 0});
  ExpectShapeInferred(&ws, op);
}

TEST(FCFusionTest, AcceptsWeightsByColumnsAndNoBias) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2}, {1, 2});
  Feed<float>(&ws, "W", {2, 3}, {1, 2, 3, 10, 20, 30});
  const std::string op = std::string(R"(type: "FCFusion" input: "X" input: "W" output: "Y"
                                        arg { name: "axis" i: -1 } )") +
                         kTransposed;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 3}, {21, 42, 63});
  ExpectShapeInferred(&ws, op);
}

class FCFusionSizeTest : public testing::TestWithParam<std::tuple<bool, int, int, int>> {};

TEST_P(FCFusionSizeTest, ReturnsTheSumOfProductsOnAnyNumberOfThreads) {
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
      double sum = double{b[static_cast<size_t>(j)]};
      for (int p = 0; p < k; ++p) {
        sum += double{x[static_cast<size_t>(i * k + p)]} *
               w[static_cast<size_t>(transposed ? p * n + j : j * k + p)];
      }
      want.push_back(static_cast<float>(std::tanh(sum)));
    }
  }
  const std::string op =
      MakeString(kOp, R"(arg { name: "activation" s: "Tanh" } )", transposed ? kTransposed : "");
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws, op);
    SetNumThreads(1);
    ExpectTensor<float>(ws, "Y", {m, n}, want, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FCFusionSizeTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 3, 7, 40, 128),
                                          testing::Values(1, 10, 130),
                                          testing::Values(1, 7, 150, 600)));

// Few rows are not worth packing W: threads divide its outputs.
INSTANTIATE_TEST_SUITE_P(Plain, FCFusionSizeTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 2, 3),
                                          testing::Values(701), testing::Values(800)));

TEST(FCFusionTest, ReturnsTheActivatedBiasIfKIsZero) {
  Workspace ws;
  const std::string op = std::string(kOp) + kRelu;
  Feed<float>(&ws, "X", {5, 0}, {});
  Feed<float>(&ws, "W", {3, 0}, {});
  Feed<float>(&ws, "b", {3}, {1, -2, 3});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {5, 3}, {1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3});
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "W", {3, 2}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<float>(&ws, "X", {5, 2}, std::vector<float>(10, 1.f));
  Feed<float>(&ws, "W", {0, 2}, {});
  Feed<float>(&ws, "b", {0}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {5, 0}, {});
}

TEST(FCFusionTest, ReadsWeightsThatChangeBetweenRuns) {
  Workspace ws;
  Feed<float>(&ws, "X", {4, 1}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {1, 1}, {10});
  Feed<float>(&ws, "b", {1}, {0});
  NetDef net = ParseNet(MakeString("name: \"n\" op { ", kOp, " }"));
  ws.CreateNet(net);
  ws.RunNet("n");
  ExpectTensor<float>(ws, "Y", {4, 1}, {10, 20, 30, 40});
  for (const float w : {2.f, 3.f, 4.f}) {
    Feed<float>(&ws, "W", {1, 1}, {w});
    ws.RunNet("n");
    ExpectTensor<float>(ws, "Y", {4, 1}, {w, 2 * w, 3 * w, 4 * w});
  }
}

// Only operators that use a weight in the same way share its packed form. The order of the uses
// decides which form exists when another one is needed.
TEST(FCFusionTest, OperatorsThatShareAWeightUseItInTheirOwnWay) {
  struct Use {
    bool transposed;
    int axis_w;
    int n, k;
  };
  // W [4, 2, 8] as [4, 16] or [8, 8], and the transposes of these.
  const std::vector<Use> uses = {{false, 1, 4, 16}, {true, 1, 16, 4},  {false, 2, 8, 8},
                                 {true, 2, 8, 8},   {false, 1, 4, 16}, {false, 2, 8, 8}};
  constexpr int kRows = 8;
  Workspace ws;
  FeedRandom(&ws, "W", {4, 2, 8}, -1, 1, 2);
  const auto w = Fetch<float>(ws, "W");
  for (const Use& use : uses) {
    const auto [transposed, axis_w, n, k] = use;
    FeedRandom(&ws, "X", {kRows, k}, -1, 1, 1);
    const auto x = Fetch<float>(ws, "X");
    std::vector<float> want;
    for (int i = 0; i < kRows * n; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += double{x[static_cast<size_t>(i / n * k + p)]} *
               w[static_cast<size_t>(transposed ? p * n + i % n : i % n * k + p)];
      }
      want.push_back(static_cast<float>(sum));
    }
    RunOp(&ws, MakeString(R"(type: "FCFusion" input: "X" input: "W" output: "Y"
                             arg { name: "axis_w" i: )",
                          axis_w, " }", transposed ? kTransposed : ""));
    ExpectTensor<float>(ws, "Y", {kRows, n}, want, 1e-5);
  }
}

TEST(FCFusionTest, RejectsShapesThatDoNotMatchAndUnknownActivations) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4});
  FeedRandom(&ws, "W", {4, 3});
  FeedRandom(&ws, "b", {4});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "has rows of 4");
  ExpectThrows([&] { RunOp(&ws, std::string(kOp) + R"(arg { name: "activation" s: "Relu6" })"); },
               "argument \"activation\" is \"Relu6\"");
  FeedRandom(&ws, "X", {2, 3});
  FeedRandom(&ws, "b", {5});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 2 (b) has shape [5], want [4]");
}

TEST(FCFusionTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {20, 64});
  FeedRandom(&ws, "W", {40, 64});
  FeedRandom(&ws, "b", {40});
  NetBase* net = ws.CreateNet(
      ParseNet(MakeString("name: \"n\" op { ", kOp, R"(arg { name: "activation" s: "Gelu" } })")));
  net->Run();
  net->Run();
  AllocationCounter counter;
  net->Run();
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::test::fc_fusion_test
