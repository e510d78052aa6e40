#include "caffe2_core/base/read_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <system_error>

#include "tests/support/no_new_threads.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::read_ahead_test {
namespace {

TEST(ReadAheadTest, ReturnsItemsInOrder) {
  for (const int threads : {1, 4}) {
    ReadAhead<std::unique_ptr<size_t>> items(
        100, threads, 7, [](size_t i) { return std::make_unique<size_t>(i * i); });
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(*items.Next(), i * i);
  }
}

TEST(ReadAheadTest, ThrowsTheErrorOfAnItemInItsPlace) {
  ReadAhead<size_t> items(5, 2, 3, [](size_t i) {
    CAFFE_ENFORCE_NE(i, 2u, "item");
    return i;
  });
  EXPECT_EQ(items.Next(), 0u);
  EXPECT_EQ(items.Next(), 1u);
  ExpectThrows([&] { items.Next(); }, "item");
  EXPECT_EQ(items.Next(), 3u);
  EXPECT_EQ(items.Next(), 4u);
  ExpectThrows([&] { items.Next(); }, "items taken from a ReadAhead");
}

TEST(ReadAheadTest, ReadsNoMoreThanTheLimitAhead) {
  std::atomic<size_t> begun = 0, taken = 0;
  std::atomic<bool> too_many = false;
  ReadAhead<size_t> items(200, 4, 5, [&](size_t i) {
    // `taken` may lag behind by the item that Next is about to return.
    if (++begun > taken + 5 + 1) too_many = true;
    return i;
  });
  for (size_t i = 0; i < 200; ++i) {
    items.Next();
    ++taken;
  }
  EXPECT_FALSE(too_many);
  EXPECT_EQ(begun, 200u);
}

TEST(ReadAheadTest, MayBeDestroyedBeforeTheEnd) {
  ReadAhead<size_t> items(1000, 4, 3, [](size_t i) { return i; });
  EXPECT_EQ(items.Next(), 0u);
}

// One item was taken, so that at most three more have been begun.
TEST(ReadAheadTest, ReadsNothingMoreOnceItIsDestroyed) {
  std::atomic<size_t> begun = 0;
  {
    ReadAhead<size_t> items(1000, 4, 3, [&](size_t i) {
      ++begun;
      return i;
    });
    EXPECT_EQ(items.Next(), 0u);
  }
  EXPECT_GE(begun, 1u);
  EXPECT_LE(begun, 4u);
}

TEST(ReadAheadTest, OneItemAtMostIsReadAtOnce) {
  std::atomic<int> reading = 0;
  std::atomic<bool> together = false;
  ReadAhead<size_t> items(50, 4, 1, [&](size_t i) {
    if (++reading > 1) together = true;
    --reading;
    return i + 1;
  });
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(items.Next(), i + 1);
  EXPECT_FALSE(together);
}

TEST(ReadAheadTest, NeedsAThreadAndAnItem) {
  const auto make = [](int threads, size_t most) {
    return [threads, most] { ReadAhead<size_t>(2, threads, most, [](size_t i) { return i; }); };
  };
  ExpectThrows(make(0, 3), "threads 0 and items 3 of a ReadAhead, want at least 1");
  ExpectThrows(make(-1, 3), "threads -1 and items 3 of a ReadAhead, want at least 1");
  ExpectThrows(make(1, 0), "threads 1 and items 0 of a ReadAhead, want at least 1");
  make(1, 1)();
}

// Errors of several items, also of the last one, are thrown in their places.
TEST(ReadAheadTest, EachErrorIsThatOfItsItem) {
  ReadAhead<size_t> items(6, 3, 6, [](size_t i) {
    if (i % 2 == 1) CAFFE_THROW("item ", i);
    return i;
  });
  for (size_t i = 0; i < 6; i += 2) {
    EXPECT_EQ(items.Next(), i);
    ExpectThrows([&] { items.Next(); }, MakeString("item ", i + 1));
  }
}

TEST(ReadAheadTest, NoItemsNeedNoThreads) {
  ReadAhead<size_t> items(0, 4, 3, [](size_t i) { return i; });
  ExpectThrows([&] { items.Next(); }, "items taken from a ReadAhead");
}

TEST(ReadAheadTest, NeedsAThreadForItemsOnly) {
  const NoNewThreads none;
  const auto read = [](size_t i) { return i; };
  EXPECT_THROW(ReadAhead<size_t>(2, 2, 3, read), std::system_error);
  const ReadAhead<size_t> empty(0, 2, 3, read);
}

}  // namespace
}  // namespace caffe2rt::test::read_ahead_test
