#include "caffe2_core/io/record_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caffe2rt::test::record_order_test {
namespace {

using ::testing::ElementsAre;
using ::testing::WhenSorted;

TEST(RecordOrderTest, IsAPermutation) {
  EXPECT_THAT(ShuffledOrder(5, 1), WhenSorted(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_THAT(ShuffledOrder(1, 1), ElementsAre(0));
  EXPECT_THAT(ShuffledOrder(0, 1), ElementsAre());
}

// The first numbers of the standard's mt19937 with the seed 5489 are 3499211612 and 581869302, that
// is 0.81 and 0.14 of 2^32: the last of 3 stays (index 2), the first two change places (index 0).
TEST(RecordOrderTest, FollowsTheGenerator) {
  EXPECT_THAT(ShuffledOrder(3, 5489), ElementsAre(1, 0, 2));
}

TEST(RecordOrderTest, DependsOnTheSeed) { EXPECT_NE(ShuffledOrder(100, 1), ShuffledOrder(100, 2)); }

}  // namespace
}  // namespace caffe2rt::test::record_order_test
