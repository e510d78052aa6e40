#include "caffe2_core/tensor/memory_range.h"

#include <gtest/gtest.h>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::memory_range_test {
namespace {

TEST(MemoryRangeTest, IsTheMemoryOfAStorage) {
  EXPECT_TRUE(RangeOf(nullptr).empty());
  Tensor tensor(std::vector<int64_t>{3}, CPU);
  const auto begin = reinterpret_cast<uintptr_t>(tensor.mutable_data<double>());
  const MemoryRange range = RangeOf(tensor.storage().get());
  EXPECT_EQ(range.begin, begin);
  EXPECT_GE(range.end, begin + 24);
}

TEST(MergedRangesTest, RangesThatOverlapHaveOneIdentity) {
  MergedRanges ranges;
  // One within another, a chain of three, neighbours, and an empty one.
  for (const MemoryRange& range : {MemoryRange{10, 90},
                                   {20, 30},
                                   {130, 150},
                                   {120, 140},
                                   {149, 160},
                                   {200, 210},
                                   {210, 220},
                                   {300, 300}}) {
    ranges.Add(range);
  }
  ranges.Merge();
  const struct {
    MemoryRange range, want;  // want: empty if there is none
  } cases[] = {{{20, 30}, {10, 90}},
               {{80, 81}, {10, 90}},
               {{0, 11}, {10, 90}},
               {{0, 10}, {}},
               {{90, 120}, {}},
               {{125, 126}, {120, 160}},
               {{159, 500}, {120, 160}},
               {{205, 206}, {200, 210}},
               {{210, 211}, {210, 220}},
               {{220, 400}, {}},
               {{15, 15}, {}}};
  for (const auto& [range, want] : cases) {
    SCOPED_TRACE(testing::Message() << range.begin << " to " << range.end);
    const MemoryRange* const found = ranges.Find(range);
    ASSERT_EQ(found != nullptr, !want.empty());
    if (found != nullptr) EXPECT_EQ(*found, want);
  }
}

}  // namespace
}  // namespace caffe2rt::memory_range_test
