#include "operators/math/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::math::blas_test {
namespace {

using ::testing::ElementsAre;

// [1 2 3; 4 5 6] and its transpose.
template <class T>
constexpr std::array<T, 6> kA = {1, 2, 3, 4, 5, 6};
template <class T>
constexpr std::array<T, 6> kAt = {1, 4, 2, 5, 3, 6};

template <class T>
class BlasTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlasTest, Types);

TYPED_TEST(BlasTest, MultipliesWithEveryTransposition) {
  using T = TypeParam;
  CPUContext context;
  std::array<T, 4> c;
  // A A^T = [14 32; 32 77]
  Gemm<T, CPUContext>(kNoTrans, kTrans, 2, 2, 3, 1, kA<T>.data(), kA<T>.data(), 0, c.data(),
                      &context);
  EXPECT_THAT(c, ElementsAre(14, 32, 32, 77));
  Gemm<T, CPUContext>(kNoTrans, kNoTrans, 2, 2, 3, 1, kA<T>.data(), kAt<T>.data(), 1, c.data(),
                      &context);
  EXPECT_THAT(c, ElementsAre(28, 64, 64, 154));
  Gemm<T, CPUContext>(kTrans, kNoTrans, 2, 2, 3, 2, kAt<T>.data(), kAt<T>.data(), 0, c.data(),
                      &context);
  EXPECT_THAT(c, ElementsAre(28, 64, 64, 154));
  Gemm<T, CPUContext>(kTrans, kTrans, 2, 2, 3, 1, kAt<T>.data(), kA<T>.data(), 0, c.data(),
                      &context);
  EXPECT_THAT(c, ElementsAre(14, 32, 32, 77));
}

TYPED_TEST(BlasTest, MultipliesByVectorsAndInBatches) {
  using T = TypeParam;
  CPUContext context;
  const std::array<T, 3> x = {1, 0, -1};
  std::array<T, 3> y = {9, 9, 9};
  Gemv<T, CPUContext>(kNoTrans, 2, 3, 1, kA<T>.data(), x.data(), 0, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(-2, -2, 9));
  Gemv<T, CPUContext>(kTrans, 2, 3, 1, kA<T>.data(), x.data(), 0, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 2, 3));
  // Two products of a [3, 1] and a [1, 1] matrix.
  std::array<T, 6> c;
  const std::array<T, 2> b = {2, 3};
  GemmBatched<T, CPUContext>(kNoTrans, kNoTrans, 2, 3, 1, 1, 1, kA<T>.data(), b.data(), 0, c.data(),
                             &context);
  EXPECT_THAT(c, ElementsAre(2, 4, 6, 12, 15, 18));
  const T* as[] = {kA<T>.data(), kA<T>.data() + 3};
  const T* bs[] = {b.data() + 1, b.data()};
  T* cs[] = {c.data(), c.data() + 3};
  GemmBatched<T, CPUContext>(kNoTrans, kNoTrans, 2, 3, 1, 1, 1, as, bs, 0, cs, &context);
  EXPECT_THAT(c, ElementsAre(3, 6, 9, 8, 10, 12));
}

// Matrices inside larger ones: the elements between the rows are neither read nor written, and a
// result that is overwritten is not read.
TYPED_TEST(BlasTest, MultipliesPartsOfMatricesWithEveryTransposition) {
  using T = TypeParam;
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  constexpr int64_t kM = 3, kN = 5, kK = 4;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  CPUContext context;
  for (const int transposed : {0, 1, 2, 3}) {
    const bool trans_a = transposed & 1, trans_b = transposed & 2;
    const int64_t lda = (trans_a ? kM : kK) + 2, ldb = (trans_b ? kK : kN) + 3, ldc = kN + 1;
    for (const T beta : {T(0), T(1), T(-2)}) {
      std::vector<T> a(7 * 7, nan), b(8 * 8, nan), c(at(kM * ldc), T(7)), want = c;
      for (int64_t i = 0; i < kM; ++i) {
        for (int64_t l = 0; l < kK; ++l)
          a.at(at(trans_a ? l * lda + i : i * lda + l)) = T(i - 2 * l);
      }
      for (int64_t l = 0; l < kK; ++l) {
        for (int64_t j = 0; j < kN; ++j)
          b.at(at(trans_b ? j * ldb + l : l * ldb + j)) = T(l * l - j);
      }
      for (int64_t i = 0; i < kM; ++i) {
        for (int64_t j = 0; j < kN; ++j) {
          int64_t sum = 0;
          for (int64_t l = 0; l < kK; ++l) sum += (i - 2 * l) * (l * l - j);
          want.at(at(i * ldc + j)) = T(3 * sum) + beta * 7;
          if (beta == 0) c.at(at(i * ldc + j)) = nan;
        }
      }
      GemmEx<T, CPUContext>(trans_a ? kTrans : kNoTrans, trans_b ? kTrans : kNoTrans, kM, kN, kK, 3,
                            a.data(), lda, b.data(), ldb, beta, c.data(), ldc, &context);
      EXPECT_EQ(c, want) << transposed << " " << beta;
    }
  }
}

// A is the same for all products, and B and C have a gap of one element between their matrices.
TYPED_TEST(BlasTest, MultipliesBatchesWithAnyDistances) {
  using T = TypeParam;
  CPUContext context;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T b[] = {1, 0, 2, nan, 3, 1, 0};  // columns of 3
  for (const T beta : {T(0), T(10)}) {
    const T old = beta == 0 ? nan : T(1);
    std::array<T, 5> c = {old, old, 5, old, old};
    GemmStridedBatched<T, CPUContext>(kNoTrans, kNoTrans, 2, 2, 1, 3, 1, kA<T>.data(), 0, b, 4,
                                      beta, c.data(), 3, &context);
    EXPECT_THAT(c, ElementsAre(7 + beta, 16 + beta, 5, 5 + beta, 17 + beta));
    c = {old, old, 5, old, old};
    GemmStridedBatched<T, CPUContext>(kTrans, kTrans, 2, 2, 1, 3, 1, kAt<T>.data(), 0, b, 4, beta,
                                      c.data(), 3, &context);
    EXPECT_THAT(c, ElementsAre(7 + beta, 16 + beta, 5, 5 + beta, 17 + beta));
  }
}

TYPED_TEST(BlasTest, SizesOfZeroGiveZerosOrNothing) {
  using T = TypeParam;
  CPUContext context;
  std::array<T, 4> c = {1, 2, 3, 4};
  for (const int trans : {kNoTrans, kTrans}) {
    Gemm<T, CPUContext>(trans, trans, 0, 2, 2, 1, kA<T>.data(), kA<T>.data(), 0, c.data(),
                        &context);
    Gemm<T, CPUContext>(trans, trans, 2, 0, 2, 1, kA<T>.data(), kA<T>.data(), 0, c.data(),
                        &context);
    EXPECT_THAT(c, ElementsAre(1, 2, 3, 4));
  }
  Gemv<T, CPUContext>(kNoTrans, 2, 0, 1, kA<T>.data(), kA<T>.data(), 2, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(2, 4, 3, 4));
  Gemm<T, CPUContext>(kTrans, kNoTrans, 2, 2, 0, 1, kA<T>.data(), kA<T>.data(), 0, c.data(),
                      &context);
  EXPECT_THAT(c, ElementsAre(0, 0, 0, 0));
}

TYPED_TEST(BlasTest, RejectsAnUnknownTransposition) {
  using T = TypeParam;
  CPUContext context;
  T c[4];
  EXPECT_THROW(
      (Gemm<T, CPUContext>(7, kNoTrans, 2, 2, 3, 1, kA<T>.data(), kA<T>.data(), 0, c, &context)),
      EnforceNotMet);
}

TEST(BlasTest, CopiesMatricesOfAnyElementsBetweenDistances) {
  CPUContext context;
  const float a[] = {1, 2, 3, 4, 5, 6};
  std::array<float, 4> b;
  CopyMatrix<CPUContext>(sizeof(float), 2, 2, a, 3, b.data(), 2, &context);
  EXPECT_THAT(b, ElementsAre(1, 2, 4, 5));
  CopyMatrix<float, CPUContext>(2, 2, a + 1, 3, b.data(), 2, &context);
  EXPECT_THAT(b, ElementsAre(2, 3, 5, 6));
  CopyMatrix<float, CPUContext>(2, 2, a, 1, 2, b.data(), 2, 1, &context);
  EXPECT_THAT(b, ElementsAre(1, 3, 2, 4));
  const std::string words[] = {"a", "b"};
  std::array<std::string, 2> copies;
  CopyMatrix<std::string, CPUContext>(1, 2, words, 2, copies.data(), 2, &context);
  EXPECT_THAT(copies, ElementsAre("a", "b"));
  CopyVector<float, CPUContext>(4, a, b.data(), &context);
  EXPECT_THAT(b, ElementsAre(1, 2, 3, 4));
  EXPECT_THROW((CopyMatrix<float, CPUContext>(2, 4, a, 3, b.data(), 4, &context)), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::math::blas_test
