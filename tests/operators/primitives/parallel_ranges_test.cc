#include "operators/primitives/parallel_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace caffe2rt::test::parallel_ranges_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Collects the ranges, sorted.
class Ranges {
 public:
  void operator()(int64_t first, int64_t last) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ranges_.insert({first, last});
  }
  const std::set<std::pair<int64_t, int64_t>>& sorted() const { return ranges_; }

 private:
  std::mutex mutex_;
  std::set<std::pair<int64_t, int64_t>> ranges_;
};

class ParallelRangesTest : public testing::Test {
 protected:
  ~ParallelRangesTest() override { SetNumThreads(1); }
};

std::set<std::pair<int64_t, int64_t>> RangesOf(int64_t count, int64_t steps) {
  Ranges ranges;
  ParallelRanges(count, steps, [&](int64_t first, int64_t last) { ranges(first, last); });
  return ranges.sorted();
}

std::set<std::pair<int64_t, int64_t>> ElementRangesOf(int64_t n) {
  Ranges ranges;
  ParallelElements(n, [&](int64_t first, int64_t last) { ranges(first, last); });
  return ranges.sorted();
}

TEST_F(ParallelRangesTest, OneThreadDoesEverything) {
  EXPECT_THAT(RangesOf(10, kParallelGrain), ElementsAre(Pair(0, 10)));
  EXPECT_THAT(ElementRangesOf(100 * kParallelGrain), ElementsAre(Pair(0, 100 * kParallelGrain)));
}

TEST_F(ParallelRangesTest, DividesEvenlyAndCoversAll) {
  SetNumThreads(3);
  EXPECT_THAT(RangesOf(10, kParallelGrain), ElementsAre(Pair(0, 4), Pair(4, 7), Pair(7, 10)));
  EXPECT_THAT(RangesOf(2, kParallelGrain), ElementsAre(Pair(0, 1), Pair(1, 2)));
  EXPECT_THAT(RangesOf(1, 100 * kParallelGrain), ElementsAre(Pair(0, 1)));
}

TEST_F(ParallelRangesTest, LittleWorkStaysOnTheCaller) {
  SetNumThreads(3);
  EXPECT_THAT(RangesOf(1, 1), ElementsAre(Pair(0, 1)));
  EXPECT_THAT(RangesOf(kParallelGrain, 1), ElementsAre(Pair(0, kParallelGrain)));
  EXPECT_THAT(RangesOf(2 * kParallelGrain - 1, 1), ElementsAre(Pair(0, 2 * kParallelGrain - 1)));
  // Enough for two threads, but not for three.
  EXPECT_THAT(RangesOf(2 * kParallelGrain, 1),
              ElementsAre(Pair(0, kParallelGrain), Pair(kParallelGrain, 2 * kParallelGrain)));
  EXPECT_THAT(ElementRangesOf(100), ElementsAre(Pair(0, 100)));
}

TEST_F(ParallelRangesTest, CallsNothingForNoIndices) {
  SetNumThreads(3);
  EXPECT_THAT(RangesOf(0, kParallelGrain), IsEmpty());
  EXPECT_THAT(ElementRangesOf(0), IsEmpty());
}

TEST_F(ParallelRangesTest, RangesOfElementsBeginAtWholeVectors) {
  SetNumThreads(2);
  EXPECT_THAT(ElementRangesOf(64 * 1001 + 5),
              ElementsAre(Pair(0, 64 * 501), Pair(64 * 501, 64 * 1001 + 5)));
}

TEST_F(ParallelRangesTest, AcceptsCountsWhoseWorkOverflows) {
  SetNumThreads(2);
  constexpr int64_t kMost = INT64_MAX;
  EXPECT_THAT(RangesOf(kMost, kMost),
              ElementsAre(Pair(0, kMost / 2 + 1), Pair(kMost / 2 + 1, kMost)));
}

}  // namespace
}  // namespace caffe2rt::test::parallel_ranges_test
