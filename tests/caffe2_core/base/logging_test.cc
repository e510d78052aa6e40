#include "caffe2_core/base/logging.h"

#include <gtest/gtest.h>

#include <functional>

namespace caffe2rt::logging_test {
namespace {

class LoggingTest : public ::testing::Test {
 protected:
  void TearDown() override { SetLogThreshold(2); }

  std::string Captured(int threshold, const std::function<void()>& log) {
    SetLogThreshold(threshold);
    ::testing::internal::CaptureStderr();
    log();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(LoggingTest, PrintsLevelFileLineAndText) {
  const std::string text = Captured(0, [] { LOG(WARNING) << "value " << 3; });
  EXPECT_EQ(text.rfind("[W logging_test.cc:", 0), 0u) << text;
  EXPECT_NE(text.find("] value 3\n"), std::string::npos) << text;
}

TEST_F(LoggingTest, BelowTheThresholdNothingIsEvaluated) {
  int evaluated = 0;
  EXPECT_EQ(Captured(2, [&] { LOG(INFO) << ++evaluated; }), "");
  EXPECT_EQ(evaluated, 0);
}

TEST_F(LoggingTest, VerbosityCountsDownwards) {
  EXPECT_EQ(Captured(0, [] { VLOG(1) << "more"; }), "");
  EXPECT_NE(Captured(-1, [] { VLOG(1) << "more"; }), "");
  SetLogThreshold(-1);
  EXPECT_TRUE(VLOG_IS_ON(1));
  EXPECT_FALSE(VLOG_IS_ON(2));
}

TEST_F(LoggingTest, ConditionalForms) {
  EXPECT_EQ(Captured(0, [] { LOG_IF(ERROR, false) << "no"; }), "");
  EXPECT_NE(Captured(0, [] { LOG_IF(ERROR, true) << "yes"; }), "");
  EXPECT_EQ(Captured(0, [] { CHECK_EQ(1, 1) << "fine"; }), "");
}

using LoggingDeathTest = LoggingTest;
TEST_F(LoggingDeathTest, FatalAborts) {
  EXPECT_DEATH(LOG(FATAL) << "the end", "the end");
  EXPECT_DEATH(CHECK(1 > 2) << "why", "Check failed: 1 > 2 why");
}

}  // namespace
}  // namespace caffe2rt::logging_test
