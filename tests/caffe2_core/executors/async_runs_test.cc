// Runs that the caller does not wait for: one at a time, and what is left if no thread can be started.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "caffe2_core/executors/waiting_threads.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::async_runs_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::MessageOf;
using test::ParseNet;

constexpr char kNet[] =
    R"(name: "n" type: "dag" op { type: "Add" input: "x" input: "one" output: "x" })";
constexpr char kRunning[] =
    "net \"n\" is running, want one run at a time: each thread needs a net of its own";
constexpr char kNothing[] = "(nothing was thrown)";

class AsyncRunsTest : public ::testing::Test {
 protected:
  AsyncRunsTest() {
    Feed<float>(&ws_, "x", {1}, {0});
    Feed<float>(&ws_, "one", {1}, {1});
    net_ = ws_.CreateNet(ParseNet(kNet));
  }
  Workspace ws_;
  NetBase* net_ = nullptr;
};

// A run lasts until Wait, even if its operators have ended.
TEST_F(AsyncRunsTest, OneRunAtATime) {
  ASSERT_TRUE(net_->RunAsync());
  EXPECT_EQ(MessageOf([&] { net_->Run(); }), kRunning);
  EXPECT_EQ(MessageOf([&] { net_->RunAsync(); }), kRunning);
  net_->Wait();
  ExpectTensor<float>(ws_, "x", {1}, {1});
  net_->Wait();  // returns at once
  EXPECT_TRUE(net_->Run());
  ExpectTensor<float>(ws_, "x", {1}, {2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(net_->RunAsync());
    net_->Wait();
  }
  ExpectTensor<float>(ws_, "x", {1}, {5});
}

// The error of a run is thrown once, and the next run begins from scratch.
TEST_F(AsyncRunsTest, AnErrorIsThrownByWait) {
  Feed<float>(&ws_, "one", {2, 2}, {1, 1, 1, 1});
  Feed<float>(&ws_, "x", {3}, {0, 0, 0});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(net_->RunAsync());
    EXPECT_NE(MessageOf([&] { net_->Wait(); }), kNothing);
    EXPECT_EQ(MessageOf([&] { net_->Wait(); }), kNothing);
  }
  Feed<float>(&ws_, "one", {1}, {1});
  Feed<float>(&ws_, "x", {1}, {0});
  ASSERT_TRUE(net_->RunAsync());
  net_->Wait();
  ExpectTensor<float>(ws_, "x", {1}, {1});
}

TEST_F(AsyncRunsTest, ADestroyedNetEndsItsRun) {
  ASSERT_TRUE(net_->RunAsync());
  ws_.DeleteNet("n");
  ExpectTensor<float>(ws_, "x", {1}, {1});
}

// Leaves no memory for the stack of another thread. Ends with 0 if the run cannot start, and one
// without another thread can.
[[noreturn]] void RunWithoutThreads() {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {0});
  Feed<float>(&ws, "one", {1}, {1});
  NetBase* const net = ws.CreateNet(ParseNet(kNet));
  if (!net->Run()) std::exit(1);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * 4096 + (1 << 20);
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  const std::string want =
      "cannot start a thread for an operator that waits: Resource temporarily unavailable";
  for (int i = 0; i < 2; ++i) {
    const std::string got = MessageOf([&] { net->RunAsync(); });
    if (got != want) {
      std::fprintf(stderr, "%s\n", got.c_str());
      std::exit(1);
    }
  }
  net->Wait();
  if (!net->Run() || ws.GetBlob("x")->Get<Tensor>().data<float>()[0] != 2) std::exit(2);
  std::exit(0);
}

TEST(AsyncThreadsTest, ARunThatCannotStartLeavesTheNetFree) {
  if (test::kHasAddressSanitizer || test::kHasThreadSanitizer)
    GTEST_SKIP() << "a sanitizer needs more memory than the limit";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunWithoutThreads(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::async_runs_test
