#include "caffe2_core/runtime/plan_executor.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;

// Nets: `init` sets n = 0, one = 1, limit = 3, stop = false; `step` does n += 1, stop = (n >=
// limit).
const char kNets[] = R"(
  network { name: "init"
    op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 1 } arg { name: "value" f: 0 } }
    op { type: "ConstantFill" output: "one" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
    op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 } arg { name: "value" f: 3 } } }
  network { name: "step"
    op { type: "Add" input: "n" input: "one" output: "n" }
    op { type: "GE" input: "n" input: "limit" output: "stop" } }
  network { name: "inner"
    op { type: "Add" input: "n" input: "one" output: "n" } }
)";

bool RunPlan(Workspace* ws, const std::string& steps) {
  PlanDef plan;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(std::string(kNets) + steps, &plan),
                "the plan of the test does not parse");
  return ws->RunPlan(plan);
}

constexpr char kInitStep[] = R"(execution_step { network: "init" })";

TEST(PlanExecutorTest, PlanWithoutStepsSucceeds) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, ""));
}

TEST(PlanExecutorTest, RunsAStepAsOftenAsNumIterSays) {
  Workspace ws;
  EXPECT_TRUE(
      RunPlan(&ws, std::string(kInitStep) + R"(execution_step { network: "inner" num_iter: 5 })"));
  ExpectTensor<float>(ws, "n", {1}, {5});
}

TEST(PlanExecutorTest, FindsAStopBlobThatTheStepsOwnNetsMake) {
  for (const char* step :
       {R"(execution_step { network: "init" network: "step" should_stop_blob: "stop" })",
        R"(execution_step { substep { network: "init" num_iter: 1 } substep { network: "step" }
           should_stop_blob: "stop" only_once: true })"}) {
    Workspace ws;
    // `limit` is n + 1 from the start, so that the first run of `step` stops.
    const std::string limit = R"(network { name: "limit"
      op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 }
           arg { name: "value" f: 1 } } })";
    std::string steps = step;
    steps.insert(steps.find("network: \"step\""), "network: \"limit\" ");
    EXPECT_TRUE(RunPlan(&ws, limit + steps)) << step;
    ExpectTensor<float>(ws, "n", {1}, {1});
  }
}

TEST(PlanExecutorTest, NumIterZeroRunsNothing) {
  Workspace ws;
  EXPECT_TRUE(
      RunPlan(&ws, std::string(kInitStep) + R"(execution_step { network: "inner" num_iter: 0 })"));
  ExpectTensor<float>(ws, "n", {1}, {0});
}

TEST(PlanExecutorTest, SubstepsMultiplyIterations) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step { num_iter: 3
    substep { network: "inner" num_iter: 2 } substep { network: "inner" } })"));
  ExpectTensor<float>(ws, "n", {1}, {9});
}

TEST(PlanExecutorTest, StopBlobEndsTheLoop) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {false});
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) +
                               R"(execution_step { network: "step" should_stop_blob: "stop" })"));
  ExpectTensor<float>(ws, "n", {1}, {3});
}

TEST(PlanExecutorTest, StopBlobIsReadAfterEveryNet) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {true});
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step {
    network: "inner" network: "inner" should_stop_blob: "stop" })"));
  ExpectTensor<float>(ws, "n", {1}, {1});
}

TEST(PlanExecutorTest, OnlyOnceRunsOneIteration) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {false});
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step {
    network: "inner" should_stop_blob: "stop" only_once: true })"));
  ExpectTensor<float>(ws, "n", {1}, {1});
}

TEST(PlanExecutorTest, RefusesWhatTheOriginalRefuses) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {false});
  ExpectThrows([&] { RunPlan(&ws, R"(execution_step { network: "nope" })"); },
               "\"nope\" not found");
  ExpectThrows(
      [&] { RunPlan(&ws, R"(execution_step { network: "init" substep { network: "init" } })"); },
      "substeps and networks");
  ExpectThrows(
      [&] { RunPlan(&ws, R"(execution_step { network: "init" should_stop_blob: "no" })"); },
      "does not exist");
  ExpectThrows(
      [&] {
        RunPlan(&ws, R"(execution_step { network: "init" num_iter: 2 should_stop_blob: "stop" })");
      },
      "Must not specify num_iter");
  ExpectThrows([&] { RunPlan(&ws, R"(execution_step { network: "init" only_once: false })"); },
               "not supported");
  ExpectThrows(
      [&] {
        RunPlan(&ws, R"(network { name: "init" })"
                     R"(execution_step { network: "init" })");
      },
      "two nets named");
}

TEST(PlanExecutorTest, ChildWorkspaceKeepsItsBlobs) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { substep { create_workspace: true
    substep { network: "init" } substep { network: "inner" num_iter: 2 } } })"));
  EXPECT_FALSE(ws.HasBlob("n"));
}

TEST(PlanExecutorTest, ConcurrentInstancesWithWorkspacesOfTheirOwn) {
  Workspace ws;
  Feed<int32_t>(&ws, "NODE_ID", {}, {2});
  EXPECT_TRUE(RunPlan(&ws, R"(execution_step { concurrent_substeps: true num_concurrent_instances: 4
    substep { create_workspace: true substep { network: "init" } substep { network: "inner" } } })"));
  EXPECT_FALSE(ws.HasBlob("n"));
  EXPECT_FALSE(ws.HasBlob("GLOBAL_WORKSPACE_ID"));
}

TEST(PlanExecutorTest, FailureOfAConcurrentSubstepIsThrownAfterAllEnded) {
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

TEST(PlanExecutorTest, LaterStepsUseTheNetThatAnEarlierOneMade) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(
      &ws, std::string(kInitStep) +
               R"(execution_step { network: "inner" } execution_step { network: "inner" })"));
  ExpectTensor<float>(ws, "n", {1}, {2});
  EXPECT_EQ(ws.Nets().size(), 2u);  // they stay
}

TEST(PlanExecutorTest, ReportNetRunsOnceMoreAtTheEnd) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step {
    network: "init" report_net: "inner" report_interval: 3600 })"));
  ExpectTensor<float>(ws, "n", {1}, {1});
}

TEST(PlanExecutorTest, ShouldContinueIsAskedBeforeEveryIteration) {
  Workspace ws;
  PlanDef plan;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      std::string(kNets) + kInitStep + R"(execution_step { network: "inner" num_iter: 100 })",
      &plan));
  EXPECT_TRUE(ws.RunPlan(plan, [](int i) { return i < 4; }));
  ExpectTensor<float>(ws, "n", {1}, {4});
}

}  // namespace
}  // namespace caffe2rt
