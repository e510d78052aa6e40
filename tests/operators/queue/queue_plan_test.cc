// Queues in plans: steps that hand each other records.
#include <google/protobuf/text_format.h>

#include <csignal>
#include <thread>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/plan/plan_executor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::queue_plan_test {
namespace {

// Net `create` makes a queue; `write` writes a record, `read` reads one and counts it; `close`
// closes the queue; `fail` throws.
constexpr char kNets[] = R"(
  network { name: "create"
    op { type: "CreateBlobsQueue" output: "q" arg { name: "capacity" i: 2 } }
    op { type: "CreateCounter" output: "c" } }
  network { name: "write"
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } }
    op { type: "EnqueueBlobs" input: "q" input: "x" output: "x" } }
  network { name: "close" op { type: "CloseBlobsQueue" input: "q" } }
  network { name: "read"
    op { type: "SafeDequeueBlobs" input: "q" output: "y" output: "done" } }
  network { name: "count" op { type: "CountUp" input: "c" output: "before" } }
  network { name: "fail"
    op { type: "ConstantFill" output: "w" arg { name: "shape" ints: -1 } } }
  execution_step { network: "create" }
)";
constexpr char kReader[] =
    R"(substep { name: "reader" network: "read" network: "count" should_stop_blob: "done" )";

bool RunPlan(Workspace* ws, const std::string& steps) {
  PlanDef plan;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(kNets + steps, &plan), "bad plan");
  return ws->RunPlan(plan, PlanOptions());
}
int64_t Count(Workspace* ws) {
  ws->RunOperatorOnce(ParseOp("type: 'RetrieveCount' input: 'c' output: 'n'"));
  return Fetch<int64_t>(*ws, "n")[0];
}

TEST(QueuePlanTest, EndsWhenTheWriterClosesTheQueue) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, MakeString(R"(
    execution_step { concurrent_substeps: true
      substep { substep { network: "write" num_iter: 10 } substep { network: "close" } } )",
                                      kReader, "} }")));
  EXPECT_EQ(Count(&ws), 10);
}

// A reporter waits for the nets of its step, and these wait for each other.
TEST(QueuePlanTest, LetsReportersRunWhileItWaits) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, MakeString(R"(
    network { name: "report" op { type: "CountUp" input: "c" output: "reported" } }
    execution_step { concurrent_substeps: true
      substep { substep { network: "write" num_iter: 2000 } substep { network: "close" } }
      substep { network: "report" run_every_ms: 1 } )",
                                      kReader, "} }")));
  EXPECT_GT(Count(&ws), 2000);
}

// The record comes from the reporter, which runs only while all that the net has started waits.
TEST(QueuePlanTest, LetsReportersRunWhileANetOfSeveralThreadsWaits) {
  for (const int threads : {1, 2}) {
    SetThreadPool({.num_threads = threads, .back_off = false});
    for (const char* type : {"simple", "dag", "async_scheduling"}) {
      Workspace ws;
      EXPECT_TRUE(RunPlan(&ws, MakeString(R"(
        network { name: "both" type: ")",
                                          type, R"("
          op { type: "DequeueBlobs" input: "q" output: "y" }
          op { type: "ConstantFill" output: "z" arg { name: "shape" ints: 1 } }
          op { type: "Relu" input: "z" output: "z" } }
        execution_step { num_iter: 20 substep { network: "both" }
                         substep { network: "write" run_every_ms: 1 } })")));
    }
  }
  SetThreadPool({});
}

TEST(QueuePlanTest, EndsWhenAnotherStepFails) {
  Workspace ws;
  ExpectThrows(
      [&] {
        RunPlan(&ws, MakeString(R"(execution_step { concurrent_substeps: true
                                     substep { network: "fail" } )",
                                kReader, "} }"));
      },
      "operator 0 (ConstantFill");
  EXPECT_EQ(Count(&ws), 0);
}

TEST(QueuePlanTest, EndsOnASignal) {
  Workspace ws;
  std::thread sender([&] {
    // The plan creates the blob after it has replaced the handlers of signals.
    while (!ws.HasBlob("y")) std::this_thread::yield();
    std::raise(SIGINT);
  });
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { network: "read" num_iter: 3 })"));
  sender.join();
}

TEST(QueuePlanTest, MayNotBeReplacedByAConcurrentStep) {
  Workspace ws;
  ExpectThrows(
      [&] {
        RunPlan(&ws, MakeString(R"(execution_step { concurrent_substeps: true
                                     substep { network: "create" } )",
                                kReader, "} }"));
      },
      "while it is");
}

}  // namespace
}  // namespace caffe2rt::test::queue_plan_test
