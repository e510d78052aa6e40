#include "caffe2_core/runtime/debug_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/thread_pool.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::debug_options_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::HasSubstr;

// Restores the options and the number of threads.
class DebugOptionsTest : public testing::Test {
 protected:
  ~DebugOptionsTest() override {
    GlobalDebugOptions() = {};
    SetNumThreads(1);
    SetLogSink(nullptr);
  }
};

TEST_F(DebugOptionsTest, AWorkspacePrintsItsBlobSizesWhenItIsDestroyed) {
  std::string log;
  SetLogSink([&](const LogEntry& entry) { log += entry.text; });
  for (const bool print : {false, true}) {
    GlobalDebugOptions().print_blob_sizes_at_exit = print;
    Workspace ws;
    FeedRandom(&ws, "x", {5});
  }
  EXPECT_THAT(log, HasSubstr(";20;x"));
  EXPECT_EQ(log.find("capacity"), log.rfind("capacity"));  // once
}

constexpr char kDiv[] = R"(type: "Div" name: "ratio" input: "a" input: "b" output: "c")";

TEST_F(DebugOptionsTest, FloatingPointExceptionsFailOnlyIfTheyAreChecked) {
  Workspace ws;
  Feed<float>(&ws, "a", {2}, {1, 1});
  Feed<float>(&ws, "b", {2}, {2, 0});
  RunOp(&ws, kDiv);
  GlobalDebugOptions().throw_if_fp_exceptions = true;
  ExpectThrows([&] { RunOp(&ws, kDiv); }, "division by zero (FE_DIVBYZERO)");
  Feed<float>(&ws, "b", {2}, {2, 4});
  RunOp(&ws, kDiv);
}

TEST_F(DebugOptionsTest, ExceptionsOfEarlierWorkDoNotCount) {
  Workspace ws;
  Feed<float>(&ws, "a", {1}, {1});
  Feed<float>(&ws, "b", {1}, {0});
  RunOp(&ws, kDiv);
  GlobalDebugOptions().throw_if_fp_exceptions = true;
  Feed<float>(&ws, "b", {1}, {1});
  RunOp(&ws, kDiv);
}

TEST_F(DebugOptionsTest, FindsExceptionsOnEveryThread) {
  constexpr int64_t kSize = 1 << 20;
  SetNumThreads(4);
  GlobalDebugOptions().throw_if_fp_exceptions = true;
  for (const int64_t at : {int64_t{0}, kSize / 2, kSize - 1}) {
    Workspace ws;
    std::vector<float> divisors(kSize, 2);
    divisors[static_cast<size_t>(at)] = 0;
    Feed<float>(&ws, "a", {kSize}, std::vector<float>(kSize, 1));
    Feed<float>(&ws, "b", {kSize}, divisors);
    ExpectThrows([&] { RunOp(&ws, kDiv); }, "division by zero");
  }
}

}  // namespace
}  // namespace caffe2rt::debug_options_test
