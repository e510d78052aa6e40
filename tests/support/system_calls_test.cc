#include "tests/support/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

namespace caffe2rt::test::system_calls_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

#define RECORD_OR_SKIP(calls, ...)                          \
  const SystemCalls calls = RecordSystemCalls(__VA_ARGS__); \
  if (!calls.skip_reason.empty()) GTEST_SKIP() << calls.skip_reason

TEST(SystemCallsTest, RecordsTheCallsOfTheAction) {
  RECORD_OR_SKIP(calls, [] {
    getppid();
    return [] {
      getppid();
      sleep(0);
      getppid();
    };
  });
  EXPECT_EQ(calls.error, "");
  ASSERT_EQ(calls.names.size(), 3u);
  EXPECT_EQ(calls.names[0], "getppid");
  EXPECT_THAT(calls.names[1], HasSubstr("nanosleep"));
  EXPECT_EQ(calls.names[2], "getppid");
}

TEST(SystemCallsTest, RecordsNothingForArithmetic) {
  RECORD_OR_SKIP(calls, [] {
    return [] {
      volatile double sum = 0;
      for (int i = 0; i < 1000; ++i) sum = sum + i;
    };
  });
  EXPECT_EQ(calls.error, "");
  EXPECT_THAT(calls.names, IsEmpty());
}

TEST(SystemCallsTest, StopsAnActionWithManyCalls) {
  RECORD_OR_SKIP(calls, [] {
    return [] {
      while (true) getppid();
    };
  });
  EXPECT_EQ(calls.error, "");
  EXPECT_EQ(calls.names.size(), 64u);
}

TEST(SystemCallsTest, ReportsExceptionsAndSignals) {
  RECORD_OR_SKIP(calls, []() -> std::function<void()> { throw std::runtime_error("not ready"); });
  EXPECT_EQ(calls.error, "not ready");
  const SystemCalls killed = RecordSystemCalls([] { return [] { __builtin_trap(); }; });
  EXPECT_THAT(killed.error, HasSubstr("ended the process"));
}

}  // namespace
}  // namespace caffe2rt::test::system_calls_test
