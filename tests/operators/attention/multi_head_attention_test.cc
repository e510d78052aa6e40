#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "operators/primitives/reduced_gemm.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::multi_head_attention_test {
namespace {

constexpr char kOp[] =
    R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" output: "Y" )";
constexpr char kMasked[] =
    R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" input: "mask" output: "Y" )";

struct Sizes {
  int batch, heads, queries, keys, size, value_size;
};

// softmax(scale * Q K^T + mask) V in double. `mask` returns the mask at [batch, head, query, key].
template <class Mask>
std::vector<float> Expected(const Sizes& s, const std::vector<float>& q,
                            const std::vector<float>& k, const std::vector<float>& v, double scale,
                            const Mask& mask) {
  std::vector<float> y(static_cast<size_t>(s.batch * s.queries * s.heads * s.value_size));
  const auto at = [&](const std::vector<float>& x, int rows, int size, int b, int row, int h,
                      int i) {
    return double{x[static_cast<size_t>(((b * rows + row) * s.heads + h) * size + i)]};
  };
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      for (int t = 0; t < s.queries; ++t) {
        std::vector<double> weights;
        double top = -std::numeric_limits<double>::infinity(), total = 0;
        for (int j = 0; j < s.keys; ++j) {
          double score = 0;
          for (int i = 0; i < s.size; ++i) {
            score += at(q, s.queries, s.size, b, t, h, i) * at(k, s.keys, s.size, b, j, h, i);
          }
          weights.push_back(scale * score + double{mask(b, h, t, j)});
          top = std::max(top, weights.back());
        }
        for (double& weight : weights) total += weight = std::exp(weight - top);
        for (int i = 0; i < s.value_size; ++i) {
          double sum = 0;
          for (int j = 0; j < s.keys; ++j) {
            sum +=
                weights[static_cast<size_t>(j)] / total * at(v, s.keys, s.value_size, b, j, h, i);
          }
          y[static_cast<size_t>(((b * s.queries + t) * s.heads + h) * s.value_size + i)] =
              static_cast<float>(sum);
        }
      }
    }
  }
  return y;
}

float NoMask(int, int, int, int) { return 0; }

// Feeds Q, K and V with the columns of heads side by side.
void FeedOperands(Workspace* ws, const Sizes& s) {
  FeedRandom(ws, "Q", {s.batch, s.queries, s.heads * s.size}, -2, 2, 1);
  FeedRandom(ws, "K", {s.batch, s.keys, s.heads * s.size}, -2, 2, 2);
  FeedRandom(ws, "V", {s.batch, s.keys, s.heads * s.value_size}, -2, 2, 3);
}

template <class Mask>
std::vector<float> Expected(const Workspace& ws, const Sizes& s, double scale, const Mask& mask) {
  return Expected(s, Fetch<float>(ws, "Q"), Fetch<float>(ws, "K"), Fetch<float>(ws, "V"), scale,
                  mask);
}

std::string Arguments(int heads, float scale) {
  return MakeString(R"(arg { name: "heads" i: )", heads, R"( } arg { name: "scale" f: )", scale,
                    " } ");
}

class MultiHeadAttentionSizeTest : public testing::TestWithParam<Sizes> {};

TEST_P(MultiHeadAttentionSizeTest, ReturnsTheWeightedValuesOnAnyNumberOfThreads) {
  const Sizes s = GetParam();
  Workspace ws;
  FeedOperands(&ws, s);
  const std::vector<float> want = Expected(ws, s, 0.5, NoMask);
  const std::string op = kOp + Arguments(s.heads, 0.5f);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 5}) {
    SetNumThreads(threads);
    RunOp(&ws, op);
    SetNumThreads(1);
    ExpectTensor<float>(ws, "Y", {s.batch, s.queries, s.heads * s.value_size}, want, 1e-5);
    results.push_back(Fetch<float>(ws, "Y"));
    EXPECT_EQ(results.back(), results.front()) << threads << " threads";
  }
  ExpectShapeInferred(&ws, op);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MultiHeadAttentionSizeTest,
                         testing::Values(Sizes{1, 1, 1, 1, 1, 1}, Sizes{1, 12, 128, 128, 32, 32},
                                         Sizes{2, 3, 7, 7, 5, 5}, Sizes{1, 2, 1, 40, 16, 16},
                                         Sizes{3, 1, 65, 17, 33, 3}, Sizes{1, 3, 100, 300, 8, 40},
                                         Sizes{1, 1, 30, 9000, 4, 4}),
                         [](const auto& info) {
                           const Sizes& s = info.param;
                           return MakeString(s.batch, "x", s.heads, "x", s.queries, "x", s.keys,
                                             "x", s.size, "x", s.value_size);
                         });

constexpr char kBf16[] = R"(arg { name: "precision" s: "bf16" } )";

// To 8 bits of fraction: the numbers that bf16 holds.
std::vector<float> Representable(std::vector<float> x) {
  for (float& value : x) value = std::nearbyint(value * 64) / 64;
  return x;
}

// Only the weights of values are rounded then, by at most 1 in 512 of each.
TEST_P(MultiHeadAttentionSizeTest, WithBf16RoundsTheWeightsOfValues) {
  if (!WhyNoBf16Products().empty()) GTEST_SKIP() << WhyNoBf16Products();
  const Sizes s = GetParam();
  Workspace ws;
  FeedOperands(&ws, s);
  for (const char* const name : {"Q", "K", "V"}) {
    Feed<float>(&ws, name, DimsOf(ws, name), Representable(Fetch<float>(ws, name)));
  }
  const std::vector<float> want = Expected(ws, s, 0.5, NoMask);
  const std::string op = kOp + Arguments(s.heads, 0.5f) + kBf16;
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    SetNumThreads(threads);
    RunOp(&ws, op);
    SetNumThreads(1);
    ExpectTensor<float>(ws, "Y", {s.batch, s.queries, s.heads * s.value_size}, want, 2. / 512);
    if (first.empty()) first = Fetch<float>(ws, "Y");
    EXPECT_EQ(Fetch<float>(ws, "Y"), first) << threads << " threads";
  }
}

TEST(MultiHeadAttentionTest, WithBf16RoundsOperands) {
  if (!WhyNoBf16Products().empty()) GTEST_SKIP() << WhyNoBf16Products();
  Workspace ws;
  Feed<float>(&ws, "Q", {1, 1, 1}, {257});  // 9 bits: rounds to 256
  Feed<float>(&ws, "K", {1, 2, 1}, {1, 257.f / 256});
  Feed<float>(&ws, "V", {1, 2, 1}, {257, 259});  // round to 256 and 260
  RunOp(&ws, std::string(kOp) + kBf16);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {258}, 0);
  // Without rounding, the second key has e times the weight of the first.
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {258.466f}, 1e-3);
}

TEST(MultiHeadAttentionTest, AddsMasksOfAllShapesThatBroadcast) {
  const Sizes s = {2, 3, 7, 20, 5, 5};
  Workspace ws;
  FeedOperands(&ws, s);
  const std::string op = kMasked + Arguments(s.heads, 1.f);
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{2, 3, 7, 20},
                                                                            {2, 1, 1, 20},
                                                                            {1, 1, 7, 20},
                                                                            {7, 20},
                                                                            {20},
                                                                            {1},
                                                                            {3, 1, 1},
                                                                            {3, 1, 20},
                                                                            {2, 3, 1, 20},
                                                                            {1, 3, 7, 20},
                                                                            {2, 1, 7, 1}}) {
    FeedRandom(&ws, "mask", dims, -3, 3, 4);
    const auto mask = Fetch<float>(ws, "mask");
    std::vector<int64_t> padded(4 - dims.size(), 1);
    padded.insert(padded.end(), dims.begin(), dims.end());
    const auto value = [&](int b, int h, int t, int j) {
      const int64_t index[] = {b, h, t, j};
      int64_t at = 0;
      for (size_t axis = 0; axis < 4; ++axis) {
        at = at * padded[axis] + (padded[axis] == 1 ? 0 : index[axis]);
      }
      return mask[static_cast<size_t>(at)];
    };
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 7, 15}, Expected(ws, s, 1, value), 1e-5);
    ExpectShapeInferred(&ws, op);
  }
}

TEST(MultiHeadAttentionTest, IgnoresKeysMaskedByInfinity) {
  Workspace ws;
  Feed<float>(&ws, "Q", {1, 1, 1}, {1});
  Feed<float>(&ws, "K", {1, 3, 1}, {1, 5, 1});
  Feed<float>(&ws, "V", {1, 3, 1}, {10, 99, 20});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Feed<float>(&ws, "mask", {3}, {0, -kInfinity, 0});
  RunOp(&ws, kMasked);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {15}, 1e-6);
  Feed<float>(&ws, "mask", {3}, {-kInfinity, -kInfinity, -kInfinity});
  RunOp(&ws, kMasked);
  EXPECT_TRUE(std::isnan(Fetch<float>(ws, "Y")[0]));
}

TEST(MultiHeadAttentionTest, GivesQueriesWithoutKeysZerosIfAsked) {
  Workspace ws;
  Feed<float>(&ws, "Q", {1, 2, 1}, {1, 1});
  Feed<float>(&ws, "K", {1, 2, 1}, {1, 1});
  Feed<float>(&ws, "V", {1, 2, 1}, {10, 20});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Feed<float>(&ws, "mask", {2, 2}, {-kInfinity, -kInfinity, 0, 0});
  RunOp(&ws, kMasked + std::string(" arg { name: 'nan_to_zero' i: 1 }"));
  ExpectTensor<float>(ws, "Y", {1, 2, 1}, {0, 15}, 1e-6);
}

// One number of the mask for all keys of a query, or of all queries of a head.
TEST(MultiHeadAttentionTest, GivesZerosWhereOneNumberMasksAllKeys) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::string zeros = kMasked + std::string(" arg { name: 'nan_to_zero' i: 1 }");
  Workspace ws;
  Feed<float>(&ws, "Q", {1, 2, 1}, {1, 1});
  Feed<float>(&ws, "K", {1, 2, 1}, {1, 1});
  Feed<float>(&ws, "V", {1, 2, 1}, {10, 20});
  Feed<float>(&ws, "mask", {2, 1}, {-kInfinity, 0});
  RunOp(&ws, zeros);
  ExpectTensor<float>(ws, "Y", {1, 2, 1}, {0, 15}, 1e-6);
  Feed<float>(&ws, "mask", {2, 1}, {3, -kInfinity});
  RunOp(&ws, zeros);
  ExpectTensor<float>(ws, "Y", {1, 2, 1}, {15, 0}, 1e-6);
  Feed<float>(&ws, "mask", {1}, {-kInfinity});
  RunOp(&ws, zeros);
  ExpectTensor<float>(ws, "Y", {1, 2, 1}, {0, 0}, 1e-6);
  RunOp(&ws, kMasked);
  for (const float y : Fetch<float>(ws, "Y")) EXPECT_TRUE(std::isnan(y));
}

TEST(MultiHeadAttentionTest, BroadcastsABatchOfOne) {
  const Sizes s = {3, 2, 4, 6, 5, 5};
  Workspace ws;
  FeedOperands(&ws, s);
  FeedRandom(&ws, "K", {1, 6, 10}, -2, 2, 2);
  const auto k = Fetch<float>(ws, "K");
  std::vector<float> repeated;
  for (int i = 0; i < 3; ++i) repeated.insert(repeated.end(), k.begin(), k.end());
  RunOp(&ws, kOp + Arguments(2, 1.f));
  const auto want = Expected(s, Fetch<float>(ws, "Q"), repeated, Fetch<float>(ws, "V"), 1, NoMask);
  ExpectTensor<float>(ws, "Y", {3, 4, 10}, want, 1e-5);
}

TEST(MultiHeadAttentionTest, ReshapesOperandsAndResult) {
  const Sizes s = {2, 3, 4, 6, 5, 5};
  Workspace ws;
  FeedOperands(&ws, s);
  const std::vector<float> want = Expected(ws, s, 1, NoMask);
  const std::string op = std::string(kOp) + R"(
      arg { name: "query_shape" ints: 2 ints: -1 ints: 3 ints: 5 }
      arg { name: "key_shape" ints: 0 ints: 0 ints: 3 ints: -1 }
      arg { name: "value_shape" ints: 2 ints: 6 ints: 3 ints: 5 }
      arg { name: "output_shape" ints: -1 ints: 15 })";
  for (const auto& dims : std::vector<std::vector<int64_t>>{{8, 15}, {2, 4, 15}, {2, 60}}) {
    ws.GetBlob("Q")->GetMutable<Tensor>()->Reshape(dims);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {8, 15}, want, 1e-5);
    ExpectShapeInferred(&ws, op);
  }
}

// As if they were not given.
TEST(MultiHeadAttentionTest, AcceptsShapesWithoutDimensions) {
  const Sizes s = {2, 3, 4, 6, 5, 5};
  Workspace ws;
  FeedOperands(&ws, s);
  const std::string op = kOp + Arguments(3, 1.f) + R"(arg { name: "query_shape" }
      arg { name: "key_shape" } arg { name: "value_shape" } arg { name: "output_shape" })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 4, 15}, Expected(ws, s, 1, NoMask), 1e-5);
  ExpectShapeInferred(&ws, op);
}

// Heads of three dimensions: [tokens, batch * heads, size].
TEST(MultiHeadAttentionTest, AcceptsHeadsWithoutABatch) {
  const Sizes s = {1, 6, 4, 4, 5, 5};
  Workspace ws;
  FeedOperands(&ws, s);
  const std::vector<float> want = Expected(ws, s, 1, NoMask);
  const std::string shape = "ints: 4 ints: 6 ints: 5 } ";
  const std::string op = kOp + (R"(arg { name: "query_shape" )" + shape) +
                         R"(arg { name: "key_shape" )" + shape + R"(arg { name: "value_shape" )" +
                         shape;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {4, 30}, want, 1e-5);
  ExpectShapeInferred(&ws, op);
}

// One head of K and V serves all heads of Q, as in multi-query attention, and the other way round.
TEST(MultiHeadAttentionTest, BroadcastsOneHead) {
  const Sizes s = {2, 3, 7, 9, 5, 4};
  const auto head_shape = [](const char* name, int heads, int size) {
    return MakeString("arg { name: \"", name, "\" ints: 0 ints: 0 ints: ", heads, " ints: ", size,
                      " } ");
  };
  for (const int many : {0, 1, 2}) {  // the operand that has all heads
    Workspace ws;
    const int q_heads = many == 0 ? 3 : 1, k_heads = many == 1 ? 3 : 1, v_heads = many == 2 ? 3 : 1;
    FeedRandom(&ws, "Q", {s.batch, s.queries, q_heads * s.size}, -2, 2, 1);
    FeedRandom(&ws, "K", {s.batch, s.keys, k_heads * s.size}, -2, 2, 2);
    FeedRandom(&ws, "V", {s.batch, s.keys, v_heads * s.value_size}, -2, 2, 3);
    const auto repeated = [&](const char* name, int heads, int size) {
      const std::vector<float> from = Fetch<float>(ws, name);
      std::vector<float> to;
      for (size_t i = 0; i < from.size(); i += static_cast<size_t>(heads * size)) {
        for (int h = 0; h < s.heads; ++h) {
          const auto at = from.begin() + static_cast<int64_t>(i) + (heads == 1 ? 0 : h * size);
          to.insert(to.end(), at, at + size);
        }
      }
      return to;
    };
    const std::vector<float> want =
        Expected(s, repeated("Q", q_heads, s.size), repeated("K", k_heads, s.size),
                 repeated("V", v_heads, s.value_size), 0.5, NoMask);
    const std::string op = kOp + Arguments(1, 0.5f) + head_shape("query_shape", q_heads, s.size) +
                           head_shape("key_shape", k_heads, s.size) +
                           head_shape("value_shape", v_heads, s.value_size);
    // Reshape needs operands of rank 4 to copy their dimensions.
    for (const auto& [name, rows, heads, size] :
         {std::tuple{"Q", s.queries, q_heads, s.size}, std::tuple{"K", s.keys, k_heads, s.size},
          std::tuple{"V", s.keys, v_heads, s.value_size}}) {
      ws.GetBlob(name)->GetMutable<Tensor>()->Reshape(
          std::vector<int64_t>{s.batch, rows, heads, size});
    }
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {s.batch, s.queries, s.heads * s.value_size}, want, 1e-5);
    ExpectShapeInferred(&ws, op);
  }
}

// The mask has more heads and queries than Q, K and V.
TEST(MultiHeadAttentionTest, BroadcastsToTheMask) {
  const Sizes s = {1, 2, 3, 4, 5, 6};
  Workspace ws;
  FeedOperands(&ws, {1, 1, 1, 4, 5, 6});
  FeedRandom(&ws, "mask", {2, 3, 4}, -2, 2, 4);
  const std::vector<float> mask = Fetch<float>(ws, "mask");
  const auto repeat = [](const std::vector<float>& from, int size, int times) {
    std::vector<float> to;
    for (size_t i = 0; i < from.size(); i += static_cast<size_t>(size)) {
      for (int n = 0; n < times; ++n) {
        to.insert(to.end(), from.begin() + static_cast<int64_t>(i),
                  from.begin() + static_cast<int64_t>(i) + size);
      }
    }
    return to;
  };
  const std::vector<float> want = Expected(
      s, repeat(Fetch<float>(ws, "Q"), 5, 6), repeat(Fetch<float>(ws, "K"), 5, 2),
      repeat(Fetch<float>(ws, "V"), 6, 2), 1,
      [&](int, int h, int t, int j) { return mask[static_cast<size_t>((h * 3 + t) * 4 + j)]; });
  RunOp(&ws, kMasked + Arguments(1, 1.f));
  ExpectTensor<float>(ws, "Y", {1, 3, 12}, want, 1e-5);
}

TEST(MultiHeadAttentionTest, ReturnsEmptyResultsForEmptyInputs) {
  Workspace ws;
  FeedOperands(&ws, {0, 2, 3, 4, 5, 5});
  RunOp(&ws, kOp + Arguments(2, 1.f));
  ExpectTensor<float>(ws, "Y", {0, 3, 10}, {});
  FeedOperands(&ws, {1, 2, 0, 4, 5, 5});
  RunOp(&ws, kOp + Arguments(2, 1.f));
  ExpectTensor<float>(ws, "Y", {1, 0, 10}, {});
  FeedOperands(&ws, {1, 2, 1, 0, 2, 2});
  RunOp(&ws, kOp + Arguments(2, 1.f));
  ExpectTensor<float>(ws, "Y", {1, 1, 4}, {0, 0, 0, 0});
}

TEST(MultiHeadAttentionTest, RejectsShapesThatDoNotMatch) {
  Workspace ws;
  FeedOperands(&ws, {2, 2, 3, 4, 5, 5});
  ExpectThrows([&] { RunOp(&ws, kOp + Arguments(3, 1.f)); },
               "input 0 (Q) has shape [2, 3, 10], want [batch, rows, columns]");
  FeedRandom(&ws, "K", {2, 4, 12});
  ExpectThrows([&] { RunOp(&ws, kOp + Arguments(2, 1.f)); },
               "input 1 (K) has heads of size 6, want 5 as input 0 (Q)");
  FeedRandom(&ws, "K", {3, 4, 10});
  ExpectThrows([&] { RunOp(&ws, kOp + Arguments(2, 1.f)); }, "input 1 (K) has batch size 3");
  FeedRandom(&ws, "K", {2, 5, 10});
  ExpectThrows([&] { RunOp(&ws, kOp + Arguments(2, 1.f)); },
               "input 2 (V) has heads of 4 rows, want 5");
  FeedRandom(&ws, "K", {2, 4, 3, 5});
  const std::string own_heads = Arguments(2, 1.f) +
                                R"(arg { name: "key_shape" ints: 0 ints: 0 ints: 0 ints: 0 })" +
                                R"(arg { name: "query_shape" ints: 0 ints: 0 ints: 2 ints: 5 })" +
                                R"(arg { name: "value_shape" ints: 0 ints: 0 ints: 2 ints: 5 })";
  ExpectThrows([&] { RunOp(&ws, kOp + own_heads); }, "input 1 (K) has heads 3, want 2");
  FeedRandom(&ws, "K", {2, 4, 10});
  FeedRandom(&ws, "mask", {3, 4, 4});
  ExpectThrows([&] { RunOp(&ws, kMasked + Arguments(2, 1.f)); },
               "input 3 (mask) has shape [3, 4, 4]");
  ExpectThrows([&] { RunOp(&ws, kOp + Arguments(0, 1.f)); }, "argument \"heads\" is 0");
}

TEST(MultiHeadAttentionTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace malloc";
  Workspace ws;
  FeedOperands(&ws, {1, 4, 40, 40, 16, 16});
  FeedRandom(&ws, "mask", {1, 1, 1, 40});
  NetBase* net =
      ws.CreateNet(ParseNet(MakeString("name: \"n\" op { ", kMasked, Arguments(4, 1.f), " }")));
  net->Run();
  net->Run();
  AllocationCounter counter;
  net->Run();
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::test::multi_head_attention_test
