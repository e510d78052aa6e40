// Tests that the comparison of the golden tests detects differences.
#include "tests/models/golden_case.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::golden_case_test {
namespace {

TEST(RelativeErrorTest, IsTheLargestDifferenceOverTheLargestValue) {
  Workspace ws;
  const Tensor& want = *Feed<float>(&ws, "want", {3}, {1, -10, NAN});
  EXPECT_DOUBLE_EQ(RelativeError(*Feed<float>(&ws, "a", {3}, {1.5f, -10, NAN}), want), 0.05);
  EXPECT_EQ(RelativeError(*Feed<float>(&ws, "b", {3}, {1, -10, 3}), want), 1e30);
  EXPECT_EQ(RelativeError(*Feed<float>(&ws, "c", {1, 3}, {1, -10, NAN}), want), 1e30);
  EXPECT_EQ(RelativeError(*Feed<int>(&ws, "d", {3}, {1, -10, 0}), want), 1e30);
}

TEST(CropTest, CopiesTheWindowOfEveryPlane) {
  Workspace ws;
  const Tensor& image = *FeedRange<float>(&ws, "X", {2, 3, 4});
  const Tensor part = Crop(image, "...,1:3,2:3");
  EXPECT_EQ(part.dims(), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(std::vector<float>(part.data<float>(), part.data<float>() + 4),
            (std::vector<float>{6, 10, 18, 22}));
  EXPECT_THROW(Crop(image, "...,1:4,2:3"), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::golden_case_test
