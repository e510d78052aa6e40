#include "operators/common/loop_nest.h"

#include <gtest/gtest.h>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::loop_nest_test {
namespace {

TEST(LoopNestTest, HasALoopForEachDimensionOfATensor) { EXPECT_EQ(kMaxLoops, Tensor::kMaxRank); }

// A 2 x 3 matrix and a row that is combined with each of its rows. The loop of size 1 has no
// effect.
TEST(LoopNestTest, FindsTheElementInEachArray) {
  LoopNest<2> nest;
  nest.Add(2, {3, 0});
  nest.Add(1, {100, 100});
  nest.Add(3, {1, 1});
  ASSERT_EQ(nest.total(), 6);
  const int64_t expected[6][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 0}, {4, 1}, {5, 2}};
  for (int64_t i = 0; i < 6; ++i) {
    int64_t at[2];
    nest.Find(i, at);
    EXPECT_EQ(at[0], expected[i][0]) << i;
    EXPECT_EQ(at[1], expected[i][1]) << i;
  }
}

// The number of elements exceeds 32 bits.
TEST(LoopNestTest, FindsElementsOfHugeArrays) {
  LoopNest<1> nest;
  nest.Add(int64_t{1} << 20, {int64_t{1} << 21});
  nest.Add(int64_t{1} << 20, {2});
  ASSERT_EQ(nest.total(), int64_t{1} << 40);
  int64_t at[1];
  nest.Find((int64_t{1} << 40) - 1, at);
  EXPECT_EQ(at[0], (((int64_t{1} << 20) - 1) << 21) + 2 * ((int64_t{1} << 20) - 1));
}

}  // namespace
}  // namespace caffe2rt::loop_nest_test
