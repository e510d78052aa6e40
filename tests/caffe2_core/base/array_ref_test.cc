#include "caffe2_core/base/array_ref.h"

#include <gtest/gtest.h>

namespace caffe2rt::array_ref_test {
namespace {

TEST(ArrayRefTest, ViewsVectorsArraysAndLists) {
  const std::vector<int64_t> vec = {1, 2, 3};
  const int64_t array[] = {1, 2, 3};
  EXPECT_EQ(IntArrayRef(vec), IntArrayRef(array));
  EXPECT_TRUE(IntArrayRef(vec).equals({1, 2, 3}));
  EXPECT_EQ(IntArrayRef(vec).vec(), vec);
  EXPECT_EQ(IntArrayRef(vec).data(), vec.data());
  EXPECT_FALSE(IntArrayRef(vec).equals({1, 2}));
}

TEST(ArrayRefTest, GivesEndsAndSlices) {
  const std::vector<int64_t> vec = {1, 2, 3, 4};
  const IntArrayRef ref(vec);
  EXPECT_EQ(ref.front(), 1);
  EXPECT_EQ(ref.back(), 4);
  EXPECT_TRUE(ref.slice(1, 2).equals({2, 3}));
  EXPECT_TRUE(ref.slice(3).equals({4}));
  EXPECT_THROW(ref.at(4), EnforceNotMet);
  EXPECT_THROW(ref.slice(3, 2), EnforceNotMet);
  EXPECT_THROW(IntArrayRef().front(), EnforceNotMet);
}

TEST(ArrayRefTest, PrintsInBrackets) {
  const std::vector<int64_t> vec = {1, 3, 224};
  EXPECT_EQ(MakeString(IntArrayRef(vec)), "[1, 3, 224]");
  EXPECT_EQ(MakeString(IntArrayRef()), "[]");
}

}  // namespace
}  // namespace caffe2rt::array_ref_test
