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

// Orders that keep the elements where they are copy all of them, up to the last.
TEST(TransposeTest, CopiesWhatStaysInOrder) {
  const std::vector<int> kept{0, 1};
  EXPECT_EQ(Turn<uint8_t>({2, 3}, kept), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Turn<uint16_t>({2, 3}, kept), (std::vector<uint16_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Turn<float>({2, 3}, kept), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Turn<double>({2, 3}, kept), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  // Axes of one element may change places.
  EXPECT_EQ(Turn<uint16_t>({1, 5, 1}, {2, 0, 1}), (std::vector<uint16_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Turn<uint16_t>({1, 1}, {1, 0}), (std::vector<uint16_t>{0}));
  EXPECT_EQ(Turn<double>({3, 1}, {1, 0}), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(Turn<uint8_t>({7}, {0}), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6}));
}

// Blocks of 3, 6, 5 and 12 bytes, and of 16 bits twice and four times, which are one word.
TEST(TransposeTest, MovesBlocksOfAnySize) {
  EXPECT_EQ(Turn<uint8_t>({2, 2, 3}, {1, 0, 2}),
            (std::vector<uint8_t>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(Turn<uint16_t>({2, 2, 3}, {1, 0, 2}),
            (std::vector<uint16_t>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(Turn<uint8_t>({3, 2, 5}, {1, 0, 2}),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24,
                                  5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 25, 26, 27, 28, 29}));
  EXPECT_EQ(Turn<uint16_t>({2, 2, 2}, {1, 0, 2}), (std::vector<uint16_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(Turn<uint16_t>({2, 2, 4}, {1, 0, 2}),
            (std::vector<uint16_t>{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(Turn<double>({2, 2, 2}, {1, 0, 2}), (std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7}));
}

// Matrices around the tiles of 16 x 16: y[i, j] is x[j, i].
TEST(TransposeTest, TurnsMatricesAroundWholeTiles) {
  for (const int64_t rows : {1, 15, 16, 17, 32, 33}) {
    for (const int64_t columns : {1, 2, 16, 31, 32, 50}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      const std::vector<float> y = Turn<float>({rows, columns}, {1, 0});
      const std::vector<uint16_t> halves = Turn<uint16_t>({rows, columns}, {1, 0});
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t j = 0; j < rows; ++j) {
          const size_t at = static_cast<size_t>(i * rows + j);
          ASSERT_EQ(y[at], static_cast<float>(j * columns + i)) << at;
          ASSERT_EQ(halves[at], j * columns + i) << at;
        }
      }
    }
  }
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
