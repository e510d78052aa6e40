// Matrix products of sizes next to each vector width, chunk and bound, inside larger matrices, with
// the built-in kernels and in the order of k.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "caffe2_core/base/work_scope.h"
#include "operators/primitives/gemm.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gemm_sizes_test {
namespace {

struct GemmSizes {
  int64_t m, n, k;
};

void ExpectProduct(const GemmSizes& s, bool trans_a, bool trans_b, float beta) {
  const auto [m, n, k] = s;
  SCOPED_TRACE(MakeString(m, " x ", n, " x ", k, trans_a ? " A^T" : "", trans_b ? " B^T" : "",
                          " beta ", beta));
  const int64_t lda = (trans_a ? m : k) + 2, ldb = (trans_b ? k : n) + 3, ldc = n + 1;
  const auto a = RandomValues((trans_a ? k : m) * lda, -1, 1, 1);
  const auto b = RandomValues((trans_b ? n : k) * ldb, -1, 1, 2);
  const auto before = RandomValues(m * ldc, -1, 1, 3);
  std::vector<float> c = before;
  for (int64_t i = 0; i < m && beta == 0; ++i) {
    std::fill_n(c.begin() + i * ldc, n, std::numeric_limits<float>::quiet_NaN());
  }
  Sgemm(trans_a, trans_b, m, n, k, -0.5f, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<size_t>(i * ldc + j);
      double want = before[at];
      if (j < n) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += double{a[static_cast<size_t>(trans_a ? p * lda + i : i * lda + p)]} *
                 b[static_cast<size_t>(trans_b ? j * ldb + p : p * ldb + j)];
        }
        want = -0.5 * sum + beta * want;
      }
      ASSERT_NEAR(c[at], want, 2e-5) << i << ", " << j;
    }
  }
}

constexpr GemmSizes kGemmSizes[] = {
    // Small products: columns in fours of vectors, in vectors, and alone.
    {3, 15, 5},
    {2, 16, 7},
    {3, 23, 4},
    {2, 63, 3},
    {2, 64, 3},
    {2, 87, 3},
    {2, 144, 2},
    {3, 20, 1},
    {5, 2, 1},
    // 4096 multiply-adds, and more.
    {16, 16, 16},
    {16, 16, 17},
    {1, 64, 65},
    // Dot products: rows in chunks of 64, in eights or fours, and alone; columns in pairs of vectors.
    {1, 65, 33},
    {1, 130, 15},
    {1, 71, 64},
    {66, 1, 31},
    {129, 1, 48},
    {7, 1, 97},
    // oneDNN: around its blocks of rows and columns.
    {33, 65, 9},
    {65, 33, 17},
};

TEST(GemmSizesTest, GiveTheSumOfProducts) {
  for (const bool any_machine : {false, true}) {
    std::optional<WorkScope> scope;
    if (any_machine) scope.emplace(WorkSettings{.any_machine = true});
    SCOPED_TRACE(any_machine ? "any machine" : "this machine");
    for (const GemmSizes& sizes : kGemmSizes) {
      for (const bool trans_a : {false, true}) {
        for (const bool trans_b : {false, true}) {
          for (const float beta : {0.f, 1.f, 0.75f}) ExpectProduct(sizes, trans_a, trans_b, beta);
        }
      }
    }
  }
}

// Rows and columns that lie together need no transposition, and are not confused with others.
TEST(GemmSizesTest, OneRowOrColumnWithoutGapsIsReadAsAVector) {
  const auto a = RandomValues(40, -1, 1, 1), b = RandomValues(40 * 70, -1, 1, 2);
  // A^T is one row of 40 with lda 1, and B^T [40, 70].
  std::vector<float> row(70, NAN);
  Sgemm(true, true, 1, 70, 40, 2.f, a.data(), 1, b.data(), 40, 0.f, row.data(), 70);
  for (size_t j = 0; j < row.size(); ++j) {
    double want = 0;
    for (size_t p = 0; p < 40; ++p) want += 2. * a[p] * b[j * 40 + p];
    ASSERT_NEAR(row[j], want, 2e-5) << j;
  }
  // B is one column of 40 with ldb 1, C one with ldc 1; B [70, 40] is A here.
  std::vector<float> column(70, 1.f);
  Sgemm(false, false, 70, 1, 40, 2.f, b.data(), 40, a.data(), 1, -3.f, column.data(), 1);
  for (size_t i = 0; i < column.size(); ++i) {
    double want = -3;
    for (size_t p = 0; p < 40; ++p) want += 2. * b[i * 40 + p] * a[p];
    ASSERT_NEAR(column[i], want, 2e-5) << i;
  }
}

TEST(SgemvSizesTest, KeepsWhatIsBeyondItsRows) {
  for (const bool any_machine : {false, true}) {
    std::optional<WorkScope> scope;
    if (any_machine) scope.emplace(WorkSettings{.any_machine = true});
    for (const int64_t rows : {0, 1, 3, 4, 5, 8, 63, 64, 65, 128, 131}) {
      for (const int64_t columns : {0, 1, 15, 16, 32, 47}) {
        SCOPED_TRACE(MakeString(rows, " x ", columns));
        const int64_t lda = columns + 1;
        const auto a = RandomValues(rows * lda + 1, -1, 1, 1);
        const auto x = RandomValues(columns + 1, -1, 1, 2);
        std::vector<float> y(static_cast<size_t>(rows) + 1, 2.f);
        Sgemv(rows, columns, 3.f, a.data(), lda, x.data(), 0.5f, y.data());
        for (int64_t i = 0; i < rows; ++i) {
          double want = 1;
          for (int64_t j = 0; j < columns; ++j)
            want += 3. * a[static_cast<size_t>(i * lda + j)] * x[static_cast<size_t>(j)];
          ASSERT_NEAR(y[static_cast<size_t>(i)], want, 2e-5) << i;
        }
        EXPECT_EQ(y.back(), 2.f);
      }
    }
  }
}

TEST(RowVectorTest, IsAddedToOrCopiedToEachRow) {
  const std::vector<float> x = {1, 10, 100};
  std::vector<float> y = {1, 2, 3, 4, 5, 6, 7};
  AddRowVector(2, 3, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{2, 12, 103, 5, 15, 106, 7}));
  FillRowVector(2, 3, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{1, 10, 100, 1, 10, 100, 7}));
  FillRowVector(0, 3, x.data(), y.data());
  AddRowVector(2, 0, x.data(), y.data());
  EXPECT_EQ(y[0], 1);
}

}  // namespace
}  // namespace caffe2rt::test::gemm_sizes_test
