// Concurrent substeps, instances and reporters of plans.

#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_concurrency_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::kInitStep;

bool RunPlan(Workspace* ws, const std::string& steps, const PlanOptions& options = {}) {
  return test::RunPlanText(ws, test::kCountingNets + steps, options);
}

TEST(PlanConcurrencyTest, ConcurrentInstancesWithWorkspacesOfTheirOwn) {
  Workspace ws;
  Feed<int32_t>(&ws, "NODE_ID", {}, {2});
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { concurrent_substeps: true num_concurrent_instances: 4
    substep { create_workspace: true substep { network: "init" } substep { network: "inner" } } })"));
  EXPECT_FALSE(ws.HasBlob("n"));
  EXPECT_FALSE(ws.HasBlob("GLOBAL_WORKSPACE_ID"));
}

TEST(PlanConcurrencyTest, FailureOfAConcurrentSubstepIsThrownAfterAllEnded) {
  Workspace ws;
  Feed<float>(&ws, "a", {2}, {1, 2});
  Feed<float>(&ws, "b", {3}, {1, 2, 3});
  ExpectThrows(
      [&] {
        RunPlan(&ws, R"(network { name: "bad" op { type: "Add" input: "a" input: "b" output: "c" } }
                        execution_step { network: "init" }
                        execution_step { concurrent_substeps: true
                          substep { network: "bad" } substep { network: "inner" num_iter: 1000 } })");
      },
      "net \"bad\"");
}

TEST(PlanConcurrencyTest, EveryInstanceOfEverySubstepHasOperatorsOfItsOwn) {
  Workspace ws;
  test::ResetPlanCounts();
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { num_iter: 2 num_concurrent_instances: 4
    substep { network: "count" num_iter: 3 } substep { network: "count" } })"));
  EXPECT_EQ(test::PlanRuns(), 2 * 4 * (3 + 1));
  EXPECT_EQ(test::PlanOperators(), 8);
  EXPECT_EQ(test::PlanOverlaps(), 0);
  EXPECT_NE(ws.GetNet("count"), nullptr);  // one of the nets remains, as in Caffe2
}

TEST(PlanConcurrencyTest, NestedInstancesMultiply) {
  Workspace ws;
  test::ResetPlanCounts();
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { num_concurrent_instances: 3
    substep { num_concurrent_instances: 5 substep { network: "count" network: "count" } } })"));
  EXPECT_EQ(test::PlanRuns(), 30);
  EXPECT_EQ(test::PlanOperators(), 15);
  EXPECT_EQ(test::PlanOverlaps(), 0);
}

TEST(PlanConcurrencyTest, StopBlobIsReadAfterConcurrentSubsteps) {
  Workspace ws;
  test::ResetPlanCounts();
  PlanOptions options;
  options.should_continue = [](int i) { return i < 10; };
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step { concurrent_substeps: true
    substep { network: "step" } substep { network: "count" } should_stop_blob: "stop" })",
                      options));
  ExpectTensor<float>(ws, "n", {1}, {3});
  EXPECT_EQ(test::PlanRuns(), 3);
}

// A step without nets, which runs nothing that could be stopped, ends with its neighbour as well.
TEST(PlanConcurrencyTest, AFailureEndsTheIterationsOfOtherSubsteps) {
  Workspace ws;
  EXPECT_THROW(RunPlan(&ws, std::string(kInitStep) + R"(
    network { name: "fails" op { type: "Copy" input: "missing" output: "y" } }
    execution_step { concurrent_substeps: true
      substep { substep { network: "step" num_iter: 1000 } substep { network: "fails" } }
      substep { num_iter: 1000000000000 } })"),
               EnforceNotMet);
}

TEST(PlanConcurrencyTest, ReporterNetsAlternateWithTheNetsOfTheStep) {
  Workspace ws;
  test::ResetPlanCounts();
  // There is one object of each net: the reporter runs the nets of the steps.
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(
    network { name: "both" op { type: "PlanTestCount" }
      op { type: "Add" input: "n" input: "one" output: "n" } }
    execution_step { report_net: "both" report_interval: 3600
      substep { network: "both" num_iter: 500 }
      substep { run_every_ms: 1 network: "both" num_iter: 5 }
      substep { run_every_ms: 1 create_workspace: true network: "both" } })"));
  EXPECT_EQ(test::PlanOverlaps(), 0);
  const int runs = test::PlanRuns();
  EXPECT_GE(runs, 500 + 1 + 5 + 1);
  ExpectTensor<float>(ws, "n", {1}, {static_cast<float>(runs)});
}

TEST(PlanConcurrencyTest, ReportersOfNestedStepsAlternateWithAllEnclosingSteps) {
  Workspace ws;
  test::ResetPlanCounts();
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(
    network { name: "both" op { type: "PlanTestCount" }
      op { type: "Add" input: "n" input: "one" output: "n" } }
    execution_step { report_net: "both" report_interval: 3600 concurrent_substeps: true
      substep { run_every_ms: 1 network: "both" }
      substep { report_net: "both" report_interval: 3600
        substep { run_every_ms: 1 network: "both" } substep { network: "both" num_iter: 300 } }
      substep { network: "count" num_iter: 300 } })"));
  EXPECT_EQ(test::PlanOverlaps(), 0);
  ExpectTensor<float>(ws, "n", {1}, {static_cast<float>(test::PlanRuns() - 300)});
}

TEST(PlanConcurrencyTest, ASignalEndsLoopsWithoutNets) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {false});
  EXPECT_TRUE(RunPlan(&ws, R"(
    network { name: "raise" op { type: "PlanTestRaise" } }
    execution_step { concurrent_substeps: true
      substep { network: "raise" }
      substep { num_iter: 9223372036854775807 substep { num_iter: 9223372036854775807 } }
      substep { should_stop_blob: "stop" } })"));
}

TEST(PlanConcurrencyTest, ASignalEndsLoopsOfReporters) {
  for (const char* workspace : {"", "create_workspace: true"}) {
    Workspace ws;
    test::ResetPlanCounts();
    EXPECT_TRUE(RunPlan(&ws, MakeString(R"(
      network { name: "raise" op { type: "PlanTestCount" } op { type: "PlanTestRaise" } }
      execution_step { substep { network: "count" }
        substep { run_every_ms: 3600000 network: "raise" num_iter: 9223372036854775807 )",
                                        workspace, "} }")));
    EXPECT_EQ(test::PlanRuns(), 2);
  }
}

}  // namespace
}  // namespace caffe2rt::plan_concurrency_test
