#include "operators/primitives/transpose.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace caffe2rt::math::transpose_test {
namespace {

template <class T>
std::vector<T> Turn(const std::vector<int64_t>& dims, const std::vector<int>& axes) {
  int64_t size = 1;
  for (const int64_t dim : dims) size *= dim;
  std::vector<T> x(size), y(size);
  std::iota(x.begin(), x.end(), T(0));
  TransposePlan plan;
  PlanTranspose(dims, axes, &plan);
  Transpose(plan, sizeof(T), x.data(), y.data());
  return y;
}

TEST(TransposeTest, TurnsItemsOfEverySize) {
  EXPECT_EQ(Turn<uint8_t>({2, 3}, {1, 0}), (std::vector<uint8_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Turn<uint16_t>({2, 3}, {1, 0}), (std::vector<uint16_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Turn<float>({2, 3}, {1, 0}), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Turn<double>({2, 3}, {1, 0}), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST(TransposeTest, MovesInnerBlocksAsOne) {
  // Blocks of 3 elements do not fit into a single word.
  EXPECT_EQ(Turn<float>({2, 2, 3}, {1, 0, 2}),
            (std::vector<float>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
}

TEST(TransposeTest, JoinsAxesThatStayTogether) {
  TransposePlan plan;
  PlanTranspose({2, 3, 4, 5}, {2, 3, 0, 1}, &plan);
  EXPECT_EQ(plan.rows.size, 20);
  EXPECT_EQ(plan.columns.size, 6);
  EXPECT_TRUE(plan.outer.empty());
  EXPECT_EQ(plan.block_items, 1);
  PlanTranspose({2, 3, 4}, {0, 1, 2}, &plan);
  EXPECT_EQ(plan.blocks, 1);
  EXPECT_EQ(plan.block_items, 24);
}

}  // namespace
}  // namespace caffe2rt::math::transpose_test
