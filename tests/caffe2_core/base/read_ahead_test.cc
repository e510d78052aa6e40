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
