#include "caffe2_core/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace caffe2rt::logging_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LoggingTest : public ::testing::Test {
 protected:
  void TearDown() override {
    SetLogSink(nullptr);
    SetLogThreshold(2);
  }

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

struct Kept {
  int severity;
  std::string file;
  int line;
  std::string text;
};

TEST_F(LoggingTest, SinkReceivesSeverityFileLineAndText) {
  std::vector<Kept> kept;
  SetLogSink([&](const LogEntry& entry) {
    kept.push_back({entry.severity, std::string(entry.file), entry.line, std::string(entry.text)});
  });
  int line = 0;
  EXPECT_EQ(Captured(-1,
                     [&] {
                       line = __LINE__ + 1;
                       LOG(WARNING) << "value " << 3;
                       VLOG(1) << "more";
                       VLOG(2) << "below the threshold";
                       LOG(ERROR) << "two\nlines";
                     }),
            "");
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].severity, 1);
  EXPECT_EQ(kept[0].file, "logging_test.cc");
  EXPECT_EQ(kept[0].line, line);
  EXPECT_EQ(kept[0].text, "value 3");
  EXPECT_EQ(kept[1].severity, -1);
  EXPECT_EQ(kept[1].text, "more");
  EXPECT_EQ(kept[2].severity, 2);
  EXPECT_EQ(kept[2].text, "two\nlines");
}

TEST_F(LoggingTest, EscapesWhatATerminalActsOn) {
  std::string text;
  SetLogSink([&](const LogEntry& entry) { text = entry.text; });
  LOG(ERROR) << "a\x1b[2J\xff\t\nb";
  EXPECT_EQ(text, "a\\x1b[2J\\xff\t\nb");
  SetLogSink(nullptr);
  EXPECT_THAT(Captured(2, [] { LOG(ERROR) << "a\x1b[2J"; }), HasSubstr("] a\\x1b[2J\n"));
}

TEST_F(LoggingTest, AnEmptySinkRestoresStderr) {
  int calls = 0;
  SetLogSink([&](const LogEntry&) { ++calls; });
  SetLogSink(nullptr);
  EXPECT_THAT(Captured(2, [] { LOG(ERROR) << "again"; }), HasSubstr("] again\n"));
  EXPECT_EQ(calls, 0);
}

TEST_F(LoggingTest, RequestedOutputIsPrintedAlone) {
  EXPECT_EQ(Captured(3, [] { LogOutput(__FILE__, __LINE__, "row 1\nrow 2\x1b"); }),
            "row 1\nrow 2\\x1b\n");
  Kept kept{};
  SetLogSink([&](const LogEntry& entry) {
    kept = {entry.severity, std::string(entry.file), entry.line, std::string(entry.text)};
  });
  EXPECT_EQ(Captured(3, [] { LogOutput("folder/a.cc", 7, "row"); }), "");
  EXPECT_EQ(kept.severity, 0);
  EXPECT_EQ(kept.file, "a.cc");
  EXPECT_EQ(kept.line, 7);
  EXPECT_EQ(kept.text, "row");
}

TEST_F(LoggingTest, WhatASinkLogsGoesToStderr) {
  int calls = 0;
  SetLogSink([&](const LogEntry&) {
    ++calls;
    LOG(ERROR) << "from the sink";
  });
  EXPECT_THAT(Captured(2, [] { LOG(ERROR) << "outside"; }),
              AllOf(HasSubstr("] from the sink\n"), Not(HasSubstr("outside"))));
  EXPECT_EQ(calls, 1);
}

TEST_F(LoggingTest, AMessageWhoseSinkThrowsGoesToStderr) {
  SetLogSink([](const LogEntry&) { throw std::runtime_error("no space"); });
  for (int i = 0; i < 2; ++i) {  // the sink stays set
    EXPECT_THAT(Captured(2, [] { LOG(ERROR) << "kept"; }),
                AllOf(HasSubstr("] kept\n"), Not(HasSubstr("no space"))));
  }
}

TEST_F(LoggingTest, ASinkCannotReplaceItself) {
  std::string message;
  SetLogSink([&](const LogEntry&) {
    try {
      SetLogSink(nullptr);
    } catch (const EnforceNotMet& error) {
      message = error.message();
    }
  });
  LOG(ERROR) << "x";
  EXPECT_EQ(message, "a log sink calls SetLogSink, want a call outside any sink");
}

TEST_F(LoggingTest, ReplacingASinkWaitsForItsCalls) {
  std::atomic<bool> entered{false};
  std::atomic<int> left{0};
  SetLogSink([&](const LogEntry&) {
    entered = true;
    std::this_thread::yield();
    ++left;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) LOG(ERROR) << i;
    });
  }
  while (!entered) std::this_thread::yield();
  std::atomic<int> taken{0};
  SetLogSink([&](const LogEntry&) { ++taken; });
  const int left_then = left;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left, left_then);  // no call of the first sink ended after it was replaced
  EXPECT_EQ(left + taken, 400);
}

using LoggingDeathTest = LoggingTest;
TEST_F(LoggingDeathTest, FatalAborts) {
  EXPECT_DEATH(LOG(FATAL) << "the end", "F logging_test.cc:[0-9]+\\] the end");
  EXPECT_DEATH(CHECK(1 > 2) << "why", "Check failed: 1 > 2 why");
}

TEST_F(LoggingDeathTest, FatalGoesToTheSinkAndToStderr) {
  EXPECT_DEATH(
      {
        SetLogSink([](const LogEntry& entry) { LOG(ERROR) << "sink has " << entry.severity; });
        LOG(FATAL) << "the end";
      },
      "sink has 3\n.*the end");
}

TEST_F(LoggingTest, PrintsTheLetterOfEachSeverity) {
  EXPECT_THAT(Captured(-2, [] { LOG(INFO) << "text"; }), testing::StartsWith("[I logging_test"));
  EXPECT_THAT(Captured(-2, [] { LOG(ERROR) << "text"; }), testing::StartsWith("[E logging_test"));
  EXPECT_THAT(Captured(-2, [] { LOG(WARNING) << "text"; }), testing::StartsWith("[W logging_test"));
  EXPECT_THAT(Captured(-2, [] { VLOG(1) << "text"; }), testing::StartsWith("[V logging_test"));
  EXPECT_THAT(Captured(-2, [] { VLOG(2) << "text"; }), testing::StartsWith("[V logging_test"));
  EXPECT_EQ(LogThreshold(), -2);
}

TEST_F(LoggingTest, TheThresholdItselfIsLogged) {
  EXPECT_NE(Captured(1, [] { LOG(WARNING) << "text"; }), "");
  EXPECT_EQ(Captured(1, [] { LOG(INFO) << "text"; }), "");
  EXPECT_EQ(Captured(3, [] { LOG(ERROR) << "text"; }), "");
}

}  // namespace
}  // namespace caffe2rt::logging_test
