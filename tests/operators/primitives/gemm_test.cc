#include "operators/primitives/gemm.h"

#include <cmath>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/work_scope.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gemm_test {

namespace {

class SgemmTest : public testing::TestWithParam<std::tuple<bool, bool, int, int, int>> {};

TEST_P(SgemmTest, GivesTheSumOfProductsInsideLargerMatrices) {
  const auto [trans_a, trans_b, m, n, k] = GetParam();
  const int lda = (trans_a ? m : k) + 3, ldb = (trans_b ? k : n) + 2, ldc = n + 1;
  const auto a = RandomValues((trans_a ? k : m) * lda, -1, 1, 1);
  const auto b = RandomValues((trans_b ? n : k) * ldb, -1, 1, 2);
  const auto before = RandomValues(m * ldc, -1, 1, 3);
  for (const float beta : {0.f, 1.f, -0.5f}) {
    std::vector<float> c = before;
    Sgemm(trans_a, trans_b, m, n, k, 2.f, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < ldc; ++j) {
        const float old = before[static_cast<size_t>(i * ldc + j)];
        double want = old;
        if (j < n) {
          double sum = 0;
          for (int p = 0; p < k; ++p) {
            sum += double{a[static_cast<size_t>(trans_a ? p * lda + i : i * lda + p)]} *
                   b[static_cast<size_t>(trans_b ? j * ldb + p : p * ldb + j)];
          }
          want = 2 * sum + beta * old;
        }
        ASSERT_NEAR(c[static_cast<size_t>(i * ldc + j)], want, 1e-4) << i << ", " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SgemmTest,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Values(1, 5, 33), testing::Values(1, 7, 64),
                                          testing::Values(1, 3, 100)));

TEST(SgemmTest, ScalesTheResultIfKIsZero) {
  std::vector<float> c = {1, 2, 3, 4};
  Sgemm(false, false, 2, 2, 0, 1.f, nullptr, 1, nullptr, 2, 0.5f, c.data(), 2);
  EXPECT_THAT(c, testing::ElementsAre(0.5f, 1.f, 1.5f, 2.f));
  Sgemm(false, false, 2, 2, 0, 1.f, nullptr, 1, nullptr, 2, 0.f, c.data(), 2);
  EXPECT_THAT(c, testing::Each(0.f));
}

// No product at all, dot products, one column, small products with and without whole vectors, and
// oneDNN.
TEST(SgemmTest, DoesNotReadAResultThatIsOverwritten) {
  struct Sizes {
    int64_t m, n, k;
    float alpha;
  };
  for (const Sizes& s : {Sizes{2, 2, 0, 1},
                         {2, 20, 3, 0},
                         {1, 5, 3, 1},
                         {5, 1, 3, 1},
                         {2, 2, 1, 1},
                         {3, 33, 4, 1},
                         {40, 33, 20, 1}}) {
    for (const bool trans_b : {false, true}) {
      SCOPED_TRACE(MakeString(s.m, " x ", s.n, " x ", s.k, ", transposed B: ", trans_b));
      const std::vector<float> a(static_cast<size_t>(s.m * s.k), 2.f);
      const std::vector<float> b(static_cast<size_t>(s.n * s.k), 3.f);
      std::vector<float> c(static_cast<size_t>(s.m * s.n), NAN);
      Sgemm(false, trans_b, s.m, s.n, s.k, s.alpha, a.data(), s.k, b.data(), trans_b ? s.k : s.n,
            0.f, c.data(), s.n);
      EXPECT_THAT(c, testing::Each(s.alpha * 6.f * static_cast<float>(s.k)));
    }
  }
}

TEST(SgemmTest, RejectsOverlappingRows) {
  float value = 0;
  ExpectThrows([&] { Sgemm(false, false, 2, 2, 2, 1.f, &value, 1, &value, 2, 0.f, &value, 2); },
               "row distances");
  ExpectThrows([&] { Sgemm(false, false, -1, 2, 2, 1.f, &value, 2, &value, 2, 0.f, &value, 2); },
               "want at least 0");
}

// Threads divide the rows, so that a row has to have the same bits beside any other rows.
TEST(SgemvTest, ComputesEachRowAsIfItWereAlone) {
  constexpr int kRows = 141, kColumns = 75, kStep = kColumns + 1;
  const auto a = RandomValues(kRows * kStep, -1, 1, 1), x = RandomValues(kColumns, -1, 1, 2);
  std::vector<float> all(kRows, NAN);
  Sgemv(kRows, kColumns, 2.f, a.data(), kStep, x.data(), 0.f, all.data());
  for (size_t row = 0; row < kRows; ++row) {
    const float* const values = a.data() + row * kStep;
    float alone = NAN;
    Sgemv(1, kColumns, 2.f, values, kStep, x.data(), 0.f, &alone);
    EXPECT_EQ(all[row], alone) << row;
    double want = 0;
    for (size_t i = 0; i < kColumns; ++i) want += 2. * values[i] * x[i];
    EXPECT_NEAR(alone, want, 1e-5) << row;
  }
}

// Each sum is one chain of fused multiply-adds in the order of k, as std::fma gives it.
TEST(SgemmTest, ForAnyMachineSumsAreInTheOrderOfK) {
  if (CpuIsa() == Isa::kPlain)
    GTEST_SKIP() << "the instruction set in use has no fused multiply-add";
  const WorkScope scope({.any_machine = true});
  constexpr int64_t m = 3, n = 37, k = 301;
  std::vector<float> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(3 * i));
  const auto want = [&](int64_t row, int64_t column) {
    float sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum = std::fma(b[static_cast<size_t>(p * n + column)], a[static_cast<size_t>(row * k + p)],
                     sum);
    }
    return sum;
  };
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      std::vector<float> x(a), y(b), c(m * n, 1.0f);
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t i = 0; trans_a && i < m; ++i)
          x[static_cast<size_t>(p * m + i)] = a[static_cast<size_t>(i * k + p)];
        for (int64_t j = 0; trans_b && j < n; ++j)
          y[static_cast<size_t>(j * k + p)] = b[static_cast<size_t>(p * n + j)];
      }
      Sgemm(trans_a, trans_b, m, n, k, 1.0f, x.data(), trans_a ? m : k, y.data(), trans_b ? k : n,
            1.0f, c.data(), n);
      for (int64_t i = 0; i < m * n; ++i) {
        EXPECT_EQ(c[static_cast<size_t>(i)], want(i / n, i % n) + 1.0f) << trans_a << trans_b << i;
      }
    }
  }
  float y[m];
  Sgemv(m, n, 1.0f, b.data(), n, a.data(), 0.0f, y);
  float sum = 0;
  for (int64_t j = 0; j < n; ++j)
    sum = std::fma(a[static_cast<size_t>(j)], b[static_cast<size_t>(n + j)], sum);
  EXPECT_EQ(y[1], sum);
}

// Rows of B and C have gaps, which are 9 and stay so.
TEST(GemmTest, ColumnsMayHaveGaps) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 9, 10, 9, 100, 9};
  float c[] = {1, 9, 2, 9};
  Sgemm(false, false, 2, 1, 3, 1.0f, a, 3, b, 2, 0.0f, c, 2);
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{321, 9, 654, 9}));
  Sgemm(false, false, 2, 1, 3, 1.0f, a, 3, b, 2, 1.0f, c, 2);
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{642, 9, 1308, 9}));
  float packed[] = {7, 7};
  Sgemm(false, false, 2, 1, 3, 2.0f, a, 3, b, 2, 0.0f, packed, 1);
  EXPECT_EQ(packed[0], 642);
  EXPECT_EQ(packed[1], 1308);
  // The columns of A are its rows in memory, with a gap behind each.
  const float transposed[] = {1, 4, 9, 2, 5, 9, 3, 6, 9};
  Sgemm(true, false, 2, 1, 3, 1.0f, transposed, 3, b, 2, 0.0f, packed, 1);
  EXPECT_EQ(packed[0], 321);
  EXPECT_EQ(packed[1], 654);
}

}  // namespace
}  // namespace caffe2rt::test::gemm_test
