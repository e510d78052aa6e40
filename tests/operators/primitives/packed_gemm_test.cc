#include "operators/primitives/packed_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::packed_gemm_test {
namespace {

using test::RandomValues;

// sum over p of a[i, p] * b[p, j] + bias[j], in double.
std::vector<double> Expected(int64_t m, int64_t n, int64_t k, const std::vector<float>& a,
                             const std::vector<float>& b, const std::vector<float>& bias) {
  std::vector<double> want;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = double{bias[static_cast<size_t>(j)]};
      for (int64_t p = 0; p < k; ++p) {
        sum += double{a[static_cast<size_t>(i * k + p)]} * b[static_cast<size_t>(p * n + j)];
      }
      want.push_back(sum);
    }
  }
  return want;
}

std::vector<float> Transposed(int64_t rows, int64_t columns, const std::vector<float>& x) {
  std::vector<float> result(x.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      result[static_cast<size_t>(j * rows + i)] = x[static_cast<size_t>(i * columns + j)];
    }
  }
  return result;
}

class PackedGemmTest : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(PackedGemmTest, ReturnsTheProductOnAnyNumberOfThreads) {
  const auto [m, n, k] = GetParam();
  const std::vector<float> a = RandomValues(m * k, -1, 1, 1), b = RandomValues(k * n, -1, 1, 2),
                           bias = RandomValues(n, -1, 1, 3);
  const std::vector<double> want = Expected(m, n, k, a, b, bias);
  const std::vector<float> bt = Transposed(k, n, b);
  for (const bool transposed : {false, true}) {
    std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)), -99.f);
    PackMatrix(transposed, k, n, transposed ? bt.data() : b.data(), transposed ? k : n,
               packed.data());
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 3}) {
      SetNumThreads(threads);
      // Two columns more than needed, which must stay as they are.
      std::vector<float> c(static_cast<size_t>(m * (n + 2)), 7.f);
      MultiplyPackedInParallel({.m = m,
                                .n = n,
                                .k = k,
                                .a = a.data(),
                                .lda = k,
                                .b = packed.data(),
                                .bias = bias.data(),
                                .c = c.data(),
                                .ldc = n + 2});
      SetNumThreads(1);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n + 2; ++j) {
          const float got = c[static_cast<size_t>(i * (n + 2) + j)];
          if (j >= n) {
            ASSERT_EQ(got, 7.f) << i << " " << j;
          } else {
            const double expected = want[static_cast<size_t>(i * n + j)];
            ASSERT_NEAR(double{got}, expected, 1e-6 * k + 1e-6) << i << " " << j;
          }
        }
      }
      results.push_back(c);
    }
    EXPECT_EQ(results[0], results[1]) << "bits differ between numbers of threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PackedGemmTest,
                         testing::Combine(testing::Values(1, 5, 12, 13, 128),
                                          testing::Values(1, 8, 16, 33, 96, 112),
                                          testing::Values(1, 7, 384)));

TEST(PackedGemmTest, AcceptsTallMatricesThatExceedTheCacheBlock) {
  const int64_t m = 300, n = 5, k = 2000;
  const std::vector<float> a = RandomValues(m * k), b = RandomValues(k * n, -1, 1, 2), bias(5, 0.f);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackMatrix(false, k, n, b.data(), n, packed.data());
  std::vector<float> c(static_cast<size_t>(m * n));
  MultiplyPacked({.m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .lda = k,
                  .b = packed.data(),
                  .c = c.data(),
                  .ldc = n});
  const std::vector<double> want = Expected(m, n, k, a, b, bias);
  for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(double{c[i]}, want[i], 1e-3) << i;
}

// With 4096 columns of A, 32 rows of it stay in the cache at once. C has two columns more, which stay.
TEST(PackedGemmTest, KeepsTheDistancesOfRowsBetweenBlocks) {
  const int64_t m = 75, n = 5, k = 4096;
  const std::vector<float> a = RandomValues(m * k), b = RandomValues(k * n, -1, 1, 2), bias(5, 0.f);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackMatrix(false, k, n, b.data(), n, packed.data());
  std::vector<float> c(static_cast<size_t>(m * (n + 2)), 7.f);
  MultiplyPacked({.m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .lda = k,
                  .b = packed.data(),
                  .c = c.data(),
                  .ldc = n + 2});
  const std::vector<double> want = Expected(m, n, k, a, b, bias);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n + 2; ++j) {
      ASSERT_NEAR(double{c[static_cast<size_t>(i * (n + 2) + j)]},
                  j < n ? want[static_cast<size_t>(i * n + j)] : 7, 5e-3)
          << i << " " << j;
    }
  }
}

// A panel is not divided: the rows of A are.
TEST(PackedGemmTest, DividesTheRowsOfTallMatricesAmongThreads) {
  for (const auto& [m, n] :
       {std::pair<int64_t, int64_t>{501, 16}, {500, 5}, {257, 40}, {131, 100}}) {
    const int64_t k = 430;
    const std::vector<float> a = RandomValues(m * k), b = RandomValues(k * n, -1, 1, 2),
                             bias = RandomValues(n, -1, 1, 3);
    const std::vector<double> want = Expected(m, n, k, a, b, bias);
    std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
    PackMatrix(false, k, n, b.data(), n, packed.data());
    for (const int threads : {1, 2, 3, 5}) {
      SetNumThreads(threads);
      std::vector<float> c(static_cast<size_t>(m * n), 7.f);
      MultiplyPackedInParallel({.m = m,
                                .n = n,
                                .k = k,
                                .a = a.data(),
                                .lda = k,
                                .b = packed.data(),
                                .bias = bias.data(),
                                .c = c.data(),
                                .ldc = n});
      SetNumThreads(1);
      for (size_t i = 0; i < c.size(); ++i) {
        ASSERT_NEAR(double{c[i]}, want[i], 5e-4) << m << " " << threads << " " << i;
      }
    }
  }
}

TEST(PackedGemmTest, ReturnsTheActivatedBiasWithoutColumnsOfA) {
  const float bias[] = {-1, 2, 3};
  float c[6] = {};
  MultiplyPacked({.m = 2, .n = 3, .k = 0, .bias = bias, .activation = Relu(), .c = c, .ldc = 3});
  EXPECT_EQ(std::vector<float>(c, c + 6), (std::vector<float>{0, 2, 3, 0, 2, 3}));
}

TEST(PackedGemmTest, AddsTheProductToTheValuesOfC) {
  const int64_t m = 7, k = 9;
  for (const int64_t n : {5, 8, 16, 21, 48}) {
    const std::vector<float> a = RandomValues(m * k), b = RandomValues(k * n, -1, 1, 2),
                             bias = RandomValues(n, -1, 1, 3), old = RandomValues(m * n, -1, 1, 4);
    std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n))), c = old;
    PackMatrix(false, k, n, b.data(), n, packed.data());
    MultiplyPacked({.m = m,
                    .n = n,
                    .k = k,
                    .a = a.data(),
                    .lda = k,
                    .b = packed.data(),
                    .bias = bias.data(),
                    .activation = Relu(),
                    .sum = true,
                    .c = c.data(),
                    .ldc = n});
    const std::vector<double> want = Expected(m, n, k, a, b, bias);
    for (size_t i = 0; i < c.size(); ++i) {
      ASSERT_NEAR(double{c[i]}, std::max(want[i] + double{old[i]}, 0.0), 1e-5) << n << ", " << i;
    }
  }
}

TEST(PackedGemmTest, RejectsSizesThatOverflow) {
  test::ExpectThrows([] { (void)PackedFloats(int64_t{1} << 62, 1 << 20); }, "overflow");
}

// Bits that arithmetic would change: negative zero, a denormal number, and a NaN that signals.
TEST(PackMatrixTest, UnpackingRestoresEveryBit) {
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{1, 1}, {5, 16}, {7, 33}, {64, 100}}) {
    std::vector<uint32_t> bits(static_cast<size_t>(k * n));
    for (size_t i = 0; i < bits.size(); ++i) {
      const uint32_t special[] = {0x80000000u, 1u, 0x7fa00001u};
      bits[i] = i % 4 < 3 ? special[i % 4] : static_cast<uint32_t>(i) * 2654435761u;
    }
    const auto* const plain = reinterpret_cast<const float*>(bits.data());
    for (const bool transposed : {false, true}) {
      const int64_t ldb = transposed ? k : n;
      std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
      PackMatrix(transposed, k, n, plain, ldb, packed.data());
      std::vector<uint32_t> back(bits.size());
      UnpackMatrix(transposed, k, n, packed.data(), ldb, reinterpret_cast<float*>(back.data()));
      EXPECT_EQ(back, bits) << k << " x " << n << (transposed ? " transposed" : "");
    }
  }
}

}  // namespace
}  // namespace caffe2rt::packed_gemm_test
