#include <cmath>
#include <string>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::layer_norm_fusion_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::Fetch;
using test::RunOp;

constexpr char kPlain[] = R"(type: "LayerNormFusion" input: "X" input: "g" input: "b" output: "Y"
                             arg { name: "epsilon" f: 1 } )";
constexpr char kSum[] = R"(type: "LayerNormFusion" input: "X" input: "g" input: "b" input: "R"
                           output: "Y" output: "S" arg { name: "epsilon" f: 1 } )";

// The rows {1, 3} and {7, 13} have means 2 and 10, and variances 1 and 9.
TEST(LayerNormFusionTest, NormalizesRowsOfASum) {
  const float a = 1 / std::sqrt(2.f), c = 1 / std::sqrt(10.f);
  const std::vector<float> want = {5 - a, 6 + 2 * a, 5 - 3 * c, 6 + 6 * c};
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 3, 7, 13});
  Feed<float>(&ws, "g", {2}, {1, 2});
  Feed<float>(&ws, "b", {2}, {5, 6});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {2, 2}, want, 1e-6);
  ExpectShapeInferred(&ws, kPlain);
  Feed<float>(&ws, "X", {2, 2}, {0, 1, 2, 3});
  Feed<float>(&ws, "R", {2, 2}, {1, 2, 5, 10});
  RunOp(&ws, kSum);
  ExpectTensor<float>(ws, "Y", {2, 2}, want, 1e-6);
  ExpectTensor<float>(ws, "S", {2, 2}, {1, 3, 7, 13});
  ExpectShapeInferred(&ws, kSum);
}

TEST(LayerNormFusionTest, BroadcastsEitherTermOfTheSum) {
  Workspace ws;
  FeedRandom(&ws, "g", {5}, -1, 1, 1);
  FeedRandom(&ws, "b", {5}, -1, 1, 2);
  const std::vector<std::vector<int64_t>> shapes = {{3, 5}, {1, 5}, {5}, {3, 1}, {2, 3, 5}};
  for (const auto& left : shapes) {
    for (const auto& right : shapes) {
      FeedRandom(&ws, "X", left, -1, 1, 3);
      FeedRandom(&ws, "R", right, -1, 1, 4);
      RunOp(&ws, R"(type: "Add" input: "X" input: "R" output: "sum")");
      const std::vector<int64_t> dims = test::DimsOf(ws, "sum");
      if (dims.back() != 5) continue;
      const std::string last = R"(arg { name: "axis" i: -1 } )";
      RunOp(&ws, R"(type: "LayerNormFusion" input: "sum" input: "g" input: "b" output: "want"
                    arg { name: "epsilon" f: 1 } )" +
                     last);
      RunOp(&ws, kSum + last);
      ExpectTensor<float>(ws, "Y", dims, Fetch<float>(ws, "want"), 1e-6);
      ExpectTensor<float>(ws, "S", dims, Fetch<float>(ws, "sum"));
    }
  }
}

// Normalizes x [outer, n, inner] over the middle dimension, in double.
TEST(LayerNormFusionTest, NormalizesOverASingleDimension) {
  constexpr int64_t kOuter = 2, kCount = 4, kInner = 6;  // the last two dimensions are 2 and 3
  Workspace ws;
  FeedRandom(&ws, "X", {kOuter, kCount, 2, 3}, -2, 3, 1);
  FeedRandom(&ws, "g", {3}, 0.5f, 2, 2);
  FeedRandom(&ws, "b", {3}, -1, 1, 3);
  const auto x = Fetch<float>(ws, "X"), g = Fetch<float>(ws, "g"), b = Fetch<float>(ws, "b");
  std::vector<float> want(x.size());
  for (int64_t o = 0; o < kOuter; ++o) {
    for (int64_t i = 0; i < kInner; ++i) {
      const auto at = [&](int64_t j) { return static_cast<size_t>((o * kCount + j) * kInner + i); };
      double mean = 0, variance = 0;
      for (int64_t j = 0; j < kCount; ++j) mean += double{x[at(j)]} / kCount;
      for (int64_t j = 0; j < kCount; ++j) variance += std::pow(x[at(j)] - mean, 2) / kCount;
      for (int64_t j = 0; j < kCount; ++j) {
        const auto column = static_cast<size_t>(i % 3);
        want[at(j)] =
            static_cast<float>((x[at(j)] - mean) / std::sqrt(variance + 1) * g[column] + b[column]);
      }
    }
  }
  const std::string single = R"(arg { name: "axis" i: 1 } arg { name: "single_axis" i: 1 } )";
  RunOp(&ws, kPlain + single);
  ExpectTensor<float>(ws, "Y", {kOuter, kCount, 2, 3}, want, 1e-6);
  // The sum of two halves.
  std::vector<float> half = x;
  for (float& value : half) value /= 2;
  Feed<float>(&ws, "X", {kOuter, kCount, 2, 3}, half);
  Feed<float>(&ws, "R", {kOuter, kCount, 2, 3}, half);
  RunOp(&ws, kSum + single);
  ExpectTensor<float>(ws, "Y", {kOuter, kCount, 2, 3}, want, 1e-6);
  ExpectTensor<float>(ws, "S", {kOuter, kCount, 2, 3}, x);
  // The sum with a row.
  std::vector<float> rest = x;
  for (size_t i = 0; i < rest.size(); ++i) rest[i] -= static_cast<float>(i % 3) - 1;
  Feed<float>(&ws, "X", {kOuter, kCount, 2, 3}, rest);
  Feed<float>(&ws, "R", {3}, {-1, 0, 1});
  RunOp(&ws, kSum + single);
  ExpectTensor<float>(ws, "Y", {kOuter, kCount, 2, 3}, want, 1e-5);
}

TEST(LayerNormFusionTest, ReturnsTheSameBitsOnAnyNumberOfThreads) {
  Workspace ws;
  FeedRandom(&ws, "X", {130, 385}, -1, 1, 1);
  FeedRandom(&ws, "R", {130, 385}, -1, 1, 2);
  FeedRandom(&ws, "g", {385}, -1, 1, 3);
  FeedRandom(&ws, "b", {385}, -1, 1, 4);
  RunOp(&ws, kSum);
  const auto want = Fetch<float>(ws, "Y");
  SetNumThreads(3);
  RunOp(&ws, kSum);
  SetNumThreads(1);
  ExpectTensor<float>(ws, "Y", {130, 385}, want);
}

TEST(LayerNormFusionTest, ReturnsEmptyResultsForEmptyInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 4}, {});
  FeedRandom(&ws, "g", {4});
  FeedRandom(&ws, "b", {4});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {0, 4}, {});
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "g", {0}, {});
  Feed<float>(&ws, "b", {0}, {});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
}

TEST(LayerNormFusionTest, AllocatesNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 10, 40}, -1, 1, 1);
  FeedRandom(&ws, "R", {10, 40}, -1, 1, 2);
  FeedRandom(&ws, "g", {400}, -1, 1, 3);
  FeedRandom(&ws, "b", {400}, -1, 1, 4);
  NetBase* net = ws.CreateNet(test::ParseNet(MakeString("name: \"n\" op { ", kSum, " }")));
  net->Run();
  net->Run();
  test::AllocationCounter counter;
  net->Run();
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(LayerNormFusionTest, RejectsShapesThatDoNotMatch) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3});
  FeedRandom(&ws, "R", {2, 2});
  FeedRandom(&ws, "g", {2});
  FeedRandom(&ws, "b", {3});
  ExpectThrows([&] { RunOp(&ws, kPlain); }, "input 1 (gamma) of shape [2]");
  FeedRandom(&ws, "g", {3});
  ExpectThrows([&] { RunOp(&ws, kSum); }, "[2, 2]");
  ExpectThrows([&] { RunOp(&ws, std::string(kPlain) + R"(arg { name: "axis" i: 2 })"); }, "axis");
}

}  // namespace
}  // namespace caffe2rt::layer_norm_fusion_test
