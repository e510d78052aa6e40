#include "caffe2_core/base/stack_limit.h"

#include <gtest/gtest.h>

#include "tests/support/small_stack.h"

namespace caffe2rt::test::stack_limit_test {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;

TEST(StackLimitTest, KnowsTheStackOfTheThread) {
  RunWithStack(kStackBytes, [] {
    const size_t left = StackBytesLeft();
    EXPECT_LE(left, kStackBytes * StackFactor());
    EXPECT_GE(left, kStackBytes * StackFactor() / 2);
    // Of 128 KiB, 24 KiB are a reserve.
    EXPECT_GE(StackLevels(1024), 40u);
    EXPECT_LE(StackLevels(1024), 104u);
    EXPECT_EQ(StackLevels(kStackBytes), 0u);
  });
  EXPECT_GT(StackBytesLeft(), kStackBytes * StackFactor());  // of the main thread
}

// A sanitizer may put arrays elsewhere, but not memory of a size that only the call states.
[[gnu::noinline]] size_t LeftBelow(size_t bytes) {
  auto* const frame = static_cast<volatile char*>(__builtin_alloca(bytes));
  frame[0] = 0;
  return StackBytesLeft();
}

TEST(StackLimitTest, CountsWhatIsInUse) {
  const size_t before = StackBytesLeft();
  EXPECT_LE(LeftBelow(size_t{32} << 10), before - (size_t{32} << 10));
}

}  // namespace
}  // namespace caffe2rt::test::stack_limit_test
