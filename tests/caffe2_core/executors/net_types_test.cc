#include "caffe2_core/executors/net_types.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::net_types_test {
namespace {

TEST(NetTypesTest, OrdersOfBuiltinTypesAreKnown) {
  for (const char* type :
       {"dag", "prof_dag", "async_dag", "async_scheduling", "async_polling", "parallel"}) {
    EXPECT_EQ(OrderOfType(type), NetOrder::kByDependencies) << type;
    EXPECT_TRUE(IsKnownNetType(type)) << type;
  }
  for (const char* type : {"", "simple", "async_simple", "simple_refcount", "rnn"}) {
    EXPECT_EQ(OrderOfType(type), NetOrder::kOrderOfNet) << type;
    EXPECT_TRUE(IsKnownNetType(type)) << type;
  }
  EXPECT_EQ(OrderOfType("nope"), NetOrder::kUnknown);
}

TEST(NetTypesTest, NamesTheRemedyForTooManyWorkers) {
  NetDef net;
  net.set_name("n");
  net.set_num_workers(3);
  EXPECT_EQ(TooManyWorkers(net, "dag"),
            "net \"n\" asks for 3 workers and gets the 1 thread of the pool: SetNumThreads or "
            "--threads sets their number");
  EXPECT_EQ(TooManyWorkers(net, "simple"), "");  // has no workers
  SetNumThreads(2);
  EXPECT_NE(TooManyWorkers(net, "dag").find("gets the 2 threads"), std::string::npos);
  SetNumThreads(3);
  EXPECT_EQ(TooManyWorkers(net, "dag"), "");
  SetNumThreads(1);
}

// Creates nets on several threads, in a process that has not warned before. Nets without the
// problem come first.
[[noreturn]] void CreateNetsWithTooManyWorkers() {
  std::mutex mutex;
  std::vector<std::string> warnings;
  SetLogThreshold(1);
  SetLogSink([&](const LogEntry& entry) {
    const std::lock_guard lock(mutex);
    warnings.emplace_back(entry.text);
  });
  SetNumThreads(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      Workspace ws;
      for (int workers = 1; workers <= 4; ++workers) {
        NetDef net = ParseNet(R"(type: "dag" op { type: "ConstantFill" output: "x" })");
        net.set_name(MakeString("n", i, " of ", workers));
        net.set_num_workers(workers);
        ws.CreateNet(net);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex);
  for (const std::string& warning : warnings) std::fprintf(stderr, "[%s]\n", warning.c_str());
  std::exit(0);
}

TEST(NetTypesTest, WarnsOfTooManyWorkersOnceInAProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CreateNetsWithTooManyWorkers(), ::testing::ExitedWithCode(0),
              "^\\[net \"n[0-7] of 3\" asks for 3 workers and gets the 2 threads of the pool: "
              "SetNumThreads or --threads sets their number\\]\n$");
}

TEST(NetTypesTest, AnExecutorReplacesBuiltinTypesOnly) {
  const auto type = [](const std::string& of, const std::string& executor) {
    auto def = std::make_shared<NetDef>();
    if (!of.empty()) def->set_type(of);
    const auto changed = WithExecutor(def, executor);
    return changed == def ? "the same" : changed->type();
  };
  EXPECT_EQ(type("", "dag"), "dag");
  EXPECT_EQ(type("async_scheduling", "simple"), "simple");
  EXPECT_EQ(type("", "simple"), "the same");
  EXPECT_EQ(type("dag", "dag"), "the same");
  EXPECT_EQ(type("of_a_user", "dag"), "the same");
  EXPECT_EQ(MessageOf([&] { type("dag", "of_a_user"); }),
            "executor \"of_a_user\" is not a built-in net type, want for example simple or "
            "async_scheduling");
  EXPECT_TRUE(FreesBlobs("simple_refcount"));
  EXPECT_FALSE(FreesBlobs("simple") || FreesBlobs(""));
}

}  // namespace
}  // namespace caffe2rt::test::net_types_test
