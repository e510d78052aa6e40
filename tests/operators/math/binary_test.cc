#include "operators/math/binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::math::binary_test {
namespace {

using ::testing::ElementsAre;

TEST(BinaryTest, ComputesElementByElement) {
  CPUContext context;
  const float a[] = {1, 6}, b[] = {2, 3};
  std::array<float, 2> c;
  Add<float, CPUContext>(2, a, b, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(3, 9));
  Div<float, CPUContext>(2, a, b, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(0.5f, 2));
  Max<float, CPUContext>(2, a, b, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(2, 6));
  ElemwiseMax<float, CPUContext>(2, a, b, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(2, 6));
  std::array<bool, 2> less;
  LT<float, CPUContext>(2, a, b, less.data(), &context);
  EXPECT_THAT(less, ElementsAre(true, false));
  const bool p[] = {true, true}, q[] = {true, false};
  Xor<bool, CPUContext>(2, p, q, less.data(), &context);
  EXPECT_THAT(less, ElementsAre(false, true));
}

TEST(BinaryTest, CombinesAMatrixWithARowOrAColumnOnEitherSide) {
  CPUContext context;
  const float matrix[] = {1, 2, 3, 4}, vector[] = {10, 20};
  std::array<float, 4> c;
  RowwiseSub<float, CPUContext>(2, 2, matrix, vector, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(-9, -18, -7, -16));
  RowwiseSub<float, CPUContext, true>(2, 2, vector, matrix, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(9, 18, 7, 16));
  ColwiseSub<float, CPUContext>(2, 2, matrix, vector, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(-9, -8, -17, -16));
  ColwiseMul<float, CPUContext, true>(2, 2, vector, matrix, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(10, 20, 60, 80));
  AddToRow<float, CPUContext>(2, 2, matrix, vector, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(11, 22, 13, 24));
  const float wide[] = {1, 2, 3, 4, 5, 6}, row[] = {10, 20, 30};
  std::array<float, 6> sums;
  AddToRow<float, CPUContext>(2, 3, wide, row, sums.data(), &context);
  EXPECT_THAT(sums, ElementsAre(11, 22, 33, 14, 25, 36));
  SubToRow<float, CPUContext>(2, 2, vector, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(1, 2, 3, 4));
  MulToCol<float, CPUContext>(2, 2, vector, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(10, 20, 60, 80));
}

TEST(BinaryTest, BroadcastsDimsOfOne) {
  CPUContext context;
  const float a[] = {1, 2, 3}, b[] = {10, 20};
  const int a_dims[] = {3}, b_dims[] = {2, 1}, bad_dims[] = {2};
  std::array<float, 6> c;
  Add<float, CPUContext>(1, a_dims, 2, b_dims, a, b, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(11, 12, 13, 21, 22, 23));
  EXPECT_THROW((Add<float, CPUContext>(1, a_dims, 1, bad_dims, a, b, c.data(), &context)),
               EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::math::binary_test
