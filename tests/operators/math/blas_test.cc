#include "operators/math/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

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
