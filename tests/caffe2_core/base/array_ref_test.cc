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

TEST(ArrayRefTest, SlicesUpToTheEndAndNoFurther) {
  const std::vector<int64_t> vec = {1, 2, 3, 4};
  const IntArrayRef ref(vec);
  EXPECT_EQ(ref.slice(4).size(), 0u);
  EXPECT_EQ(ref.slice(0).vec(), vec);
  EXPECT_EQ(ref.slice(0, 4).vec(), vec);
  EXPECT_TRUE(ref.slice(4, 0).empty());
  EXPECT_EQ(ref.at(3), 4);
  EXPECT_EQ(ref[2], 3);
  for (const auto& [first, count] :
       std::vector<std::pair<size_t, size_t>>{{5, 0}, {4, 1}, {0, 5}, {2, SIZE_MAX}}) {
    EXPECT_THROW(ref.slice(first, count), EnforceNotMet) << first << " " << count;
  }
  EXPECT_THROW(ref.slice(5), EnforceNotMet);
  EXPECT_THROW(IntArrayRef().back(), EnforceNotMet);
}

TEST(ArrayRefTest, IsMadeOfOneElementOrNone) {
  const int64_t one = 7;
  EXPECT_EQ(IntArrayRef(one).size(), 1u);
  EXPECT_EQ(IntArrayRef(one).data(), &one);
  EXPECT_EQ(IntArrayRef(one).front(), 7);
  EXPECT_EQ(IntArrayRef(one).back(), 7);
  EXPECT_TRUE(IntArrayRef().empty());
  EXPECT_FALSE(IntArrayRef(one).empty());
  EXPECT_EQ(IntArrayRef(std::initializer_list<int64_t>{}).data(), nullptr);
  EXPECT_EQ(IntArrayRef().begin(), IntArrayRef().end());
}

TEST(ArrayRefTest, ComparesSizesAndElements) {
  const std::vector<int64_t> vec = {1, 2, 3}, other = {1, 2, 4}, longer = {1, 2, 3, 4};
  EXPECT_TRUE(vec == IntArrayRef(vec));
  EXPECT_TRUE(IntArrayRef(vec) == vec);
  for (const std::vector<int64_t>& different : {other, longer}) {
    EXPECT_FALSE(IntArrayRef(vec) == IntArrayRef(different));
    EXPECT_FALSE(IntArrayRef(different) == vec);
    EXPECT_FALSE(vec == IntArrayRef(different));
  }
  EXPECT_EQ(static_cast<std::vector<int64_t>>(IntArrayRef(longer)), longer);
  int64_t sum = 0;
  for (const int64_t element : IntArrayRef(longer)) sum += element;
  EXPECT_EQ(sum, 10);
}

}  // namespace
}  // namespace caffe2rt::array_ref_test
