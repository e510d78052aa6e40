// How attention is divided among threads, and that each thread stays within its scratch memory.
#include "operators/attention/attention_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "operators/primitives/reduced_gemm.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::attention_kernel_test {
namespace {

// The queries of a head are divided, in tiles of 12 rows, if the heads are few and no multiple of the threads.
TEST(DivideAttentionTest, DividesQueriesOfFewHeads) {
  struct Row {
    int64_t batch, heads, queries;
    int threads;
    int64_t parts;
  };
  const Row rows[] = {
      {1, 3, 100, 2, 2}, {1, 3, 100, 3, 1}, {1, 6, 100, 3, 1}, {2, 1, 5, 5, 1},   {1, 1, 12, 5, 1},
      {1, 1, 13, 5, 2},  {1, 1, 60, 5, 5},  {1, 1, 600, 5, 5}, {3, 3, 99, 2, 1},  {1, 7, 99, 2, 2},
      {2, 4, 99, 3, 3},  {1, 3, 99, 1, 1},  {0, 3, 100, 2, 1}, {1, 0, 100, 2, 1}, {1, 1, 0, 2, 1},
  };
  for (const Row& row : rows) {
    const AttentionItems items = DivideAttention(
        {.batch = row.batch, .heads = row.heads, .queries = row.queries}, row.threads);
    EXPECT_EQ(items.parts, row.parts) << row.batch << " " << row.heads << " " << row.queries;
    EXPECT_EQ(items.count, row.batch * row.heads * row.parts);
  }
}

AttentionSteps StepsOf(const AttentionShape& shape, int64_t rows, int64_t size) {
  return {.batch = rows * shape.heads * size, .head = size, .row = shape.heads * size};
}

struct Operands {
  explicit Operands(const AttentionShape& s)
      : q(RandomValues(s.batch * s.queries * s.heads * s.size, -1, 1, 1)),
        k(RandomValues(s.batch * s.keys * s.heads * s.size, -1, 1, 2)),
        v(RandomValues(s.batch * s.keys * s.heads * s.value_size, -1, 1, 3)) {}
  std::vector<float> q, k, v;
};

// Softmax of a quarter of Q K^T, times V, in double.
std::vector<float> Defined(const AttentionShape& s, const Operands& t) {
  const AttentionSteps q = StepsOf(s, s.queries, s.size), k = StepsOf(s, s.keys, s.size),
                       v = StepsOf(s, s.keys, s.value_size);
  const auto at = [](const std::vector<float>& x, const AttentionSteps& steps, int64_t b, int64_t h,
                     int64_t row, int64_t i) {
    return double{x[static_cast<size_t>(b * steps.batch + h * steps.head + row * steps.row + i)]};
  };
  std::vector<float> y;
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t r = 0; r < s.queries; ++r) {
      for (int64_t h = 0; h < s.heads; ++h) {
        std::vector<double> sums(static_cast<size_t>(s.value_size));
        double total = 0;
        for (int64_t j = 0; j < s.keys; ++j) {
          double score = 0;
          for (int64_t i = 0; i < s.size; ++i)
            score += at(t.q, q, b, h, r, i) * at(t.k, k, b, h, j, i);
          const double weight = std::exp(score / 4);
          total += weight;
          for (int64_t i = 0; i < s.value_size; ++i) {
            sums[static_cast<size_t>(i)] += weight * at(t.v, v, b, h, j, i);
          }
        }
        for (const double sum : sums) y.push_back(static_cast<float>(sum / total));
      }
    }
  }
  return y;
}

TEST(ComputeAttentionTest, PartsStayWithinTheirScratchMemory) {
  const AttentionShape shapes[] = {
      {1, 1, 40, 3, 200, 5}, {1, 3, 40, 300, 3, 9}, {2, 1, 25, 17, 40, 33}, {1, 1, 30, 9000, 4, 4}};
  for (const AttentionShape& s : shapes) {
    const Operands t(s);
    const std::vector<float> want = Defined(s, t);
    for (const bool bf16 : {false, true}) {
      if (bf16 && !WhyNoBf16Products().empty()) continue;
      const auto floats = static_cast<size_t>(AttentionScratch(s, bf16));
      constexpr float kGuard = 55;
      std::vector<float> memory(floats + 4096, kGuard);
      float* const scratch =
          reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
      for (const int threads : {1, 2, 5}) {
        SCOPED_TRACE(MakeString(s.keys, " keys of ", s.size, bf16 ? " in bf16, " : ", ", threads));
        const AttentionItems items = DivideAttention(s, threads);
        std::vector<float> y(want.size(), -77);
        const AttentionTask task{.shape = s,
                                 .q = t.q.data(),
                                 .k = t.k.data(),
                                 .v = t.v.data(),
                                 .q_steps = StepsOf(s, s.queries, s.size),
                                 .k_steps = StepsOf(s, s.keys, s.size),
                                 .v_steps = StepsOf(s, s.keys, s.value_size),
                                 .scale = 0.25f,
                                 .bf16 = bf16,
                                 .y = y.data(),
                                 .y_steps = StepsOf(s, s.queries, s.value_size)};
        for (int64_t i = 0; i < threads; ++i) {
          std::fill_n(scratch, floats, kGuard);
          ComputeAttention(task, items, items.count * i / threads, items.count * (i + 1) / threads,
                           scratch);
        }
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_NEAR(y[i], want[i], bf16 ? 0.03 : 1e-5) << i;
        }
        EXPECT_TRUE(std::all_of(scratch + floats, memory.data() + memory.size(),
                                [](float value) { return value == kGuard; }));
      }
    }
  }
}

// One number for a whole row of scores changes no weight, whatever the number of keys, nor do equal
// numbers for the keys.
TEST(ComputeAttentionTest, MasksOfEqualNumbersChangeNothing) {
  for (const int64_t keys : {1, 3, 8, 15, 16, 17, 24, 40, 200}) {
    const AttentionShape s = {1, 2, 5, keys, 4, 3};
    const Operands t(s);
    const std::vector<float> want = Defined(s, t);
    std::vector<float> scratch(static_cast<size_t>(AttentionScratch(s, false)) + 16);
    float* const aligned =
        reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    for (const int64_t key_step : {0, 1}) {
      SCOPED_TRACE(MakeString(keys, " keys, step ", key_step));
      const int64_t row = key_step == 0 ? 1 : keys;
      std::vector<float> mask, y(want.size(), -77);
      for (int64_t i = 0; i < s.heads * s.queries * row; ++i)
        mask.push_back(static_cast<float>(i / row * 3 % 7 - 4));
      const AttentionTask task{.shape = s,
                               .q = t.q.data(),
                               .k = t.k.data(),
                               .v = t.v.data(),
                               .q_steps = StepsOf(s, s.queries, s.size),
                               .k_steps = StepsOf(s, s.keys, s.size),
                               .v_steps = StepsOf(s, s.keys, s.value_size),
                               .scale = 0.25f,
                               .mask = mask.data(),
                               .mask_steps = {.batch = 0, .head = s.queries * row, .row = row},
                               .mask_key_step = key_step,
                               .y = y.data(),
                               .y_steps = StepsOf(s, s.queries, s.value_size)};
      const AttentionItems items = DivideAttention(s, 1);
      ComputeAttention(task, items, 0, items.count, aligned);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(y[i], want[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::attention_kernel_test
