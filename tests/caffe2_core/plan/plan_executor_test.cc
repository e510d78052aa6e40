#include "caffe2_core/plan/plan_executor.h"

#include <gtest/gtest.h>

#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_executor_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::kInitStep;

bool RunPlan(Workspace* ws, const std::string& steps) {
  return test::RunPlanText(ws, test::kCountingNets + steps);
}

TEST(PlanExecutorTest, PlanWithoutStepsSucceeds) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, ""));
}

TEST(PlanPositionTest, NamesTheStepOrItsNets) {
  ExecutionStep epoch, train, unnamed;
  epoch.set_name("epoch");
  epoch.set_num_iter(10);
  train.set_name("train");
  const PlanPosition outer = {.step = &epoch, .iteration = 1};
  EXPECT_EQ(PlanPositionText({.step = &train, .outer = &outer}),
            "step \"epoch\", iteration 2 of 10, step \"train\"");
  EXPECT_EQ(PlanPositionText({.step = &unnamed}), "a step");
  unnamed.add_network("a");
  EXPECT_EQ(PlanPositionText({.step = &unnamed}), "the step of net \"a\"");
  const PlanPosition around = {.step = &unnamed};
  EXPECT_EQ(PlanPositionText({.step = &train, .outer = &around}), "step \"train\"");
  unnamed.add_network("b");
  unnamed.set_num_iter(2);
  EXPECT_EQ(PlanPositionText({.step = &unnamed}),
            "the step of nets \"a\", \"b\", iteration 1 of 2");
}

TEST(PlanExecutorTest, RunsAStepNumIterTimes) {
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
    // `limit` is 1, so that the first run of `step` stops the loop.
    const std::string limit = R"(network { name: "limit"
      op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 }
           arg { name: "value" f: 1 } } })";
    std::string steps = step;
    steps.insert(steps.find("network: \"step\""), "network: \"limit\" ");
    EXPECT_TRUE(RunPlan(&ws, limit + steps)) << step;
    ExpectTensor<float>(ws, "n", {1}, {1});
  }
}

TEST(PlanExecutorTest, CreatesWhatItsNetsWriteButNotWhatNetsInArgumentsDo) {
  Workspace ws;
  EXPECT_TRUE(test::RunPlanText(&ws, R"(
    network { name: "late" op { type: "ConstantFill" output: "made"
      arg { name: "shape" ints: 1 }
      arg { name: "then_net" n { op { type: "Relu" input: "made" output: "nested" } } } } }
    execution_step { network: "late" num_iter: 0 })"));
  EXPECT_TRUE(ws.HasBlob("made"));
  EXPECT_FALSE(ws.HasBlob("nested"));
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

TEST(PlanExecutorTest, RejectsWhatTheOriginalRejects) {
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

TEST(PlanExecutorTest, LaterStepsUseTheNetThatAnEarlierOneMade) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(
      &ws, std::string(kInitStep) +
               R"(execution_step { network: "inner" } execution_step { network: "inner" })"));
  ExpectTensor<float>(ws, "n", {1}, {2});
  EXPECT_EQ(ws.Nets().size(), 2u);  // the nets remain
}

TEST(PlanExecutorTest, ReportNetRunsOnceMoreAtTheEnd) {
  Workspace ws;
  EXPECT_TRUE(RunPlan(&ws, std::string(kInitStep) + R"(execution_step {
    network: "init" report_net: "inner" report_interval: 3600 })"));
  ExpectTensor<float>(ws, "n", {1}, {1});
}

TEST(PlanExecutorTest, ShouldContinueIsAskedBeforeEveryIteration) {
  Workspace ws;
  const PlanDef plan = test::ParsePlan(std::string(test::kCountingNets) + kInitStep +
                                       R"(execution_step { network: "inner" num_iter: 100 })");
  EXPECT_TRUE(ws.RunPlan(plan, [](int i) { return i < 4; }));
  ExpectTensor<float>(ws, "n", {1}, {4});
}

TEST(PlanExecutorTest, ChildWorkspacesKnowTheNodeAndTheirNumber) {
  Workspace ws;
  Feed<int32_t>(&ws, "NODE_ID", {}, {2});
  Feed<int32_t>(&ws, "seen", {}, {0});
  const std::string copy =
      R"(network { name: "copy" op { type: "Copy" input: "GLOBAL_WORKSPACE_ID" output: "seen" } })";
  const std::string step = R"(substep { create_workspace: true network: "copy" } })";
  EXPECT_TRUE(RunPlan(&ws, copy + "execution_step { " + step));
  ExpectTensor<int32_t>(ws, "seen", {}, {0x20000});
  EXPECT_TRUE(RunPlan(&ws, copy + "execution_step { num_iter: 3 " + step));
  ExpectTensor<int32_t>(ws, "seen", {}, {0x20002});
}

TEST(PlanExecutorTest, RejectsANodeIdWithoutValue) {
  Workspace ws;
  Feed<int32_t>(&ws, "NODE_ID", {0}, {});
  ExpectThrows([&] { RunPlan(&ws, R"(execution_step { create_workspace: true })"); },
               "blob \"NODE_ID\" has shape [0], want one int32");
}

TEST(PlanExecutorTest, CompilesAStepWhenItFirstRuns) {
  Workspace ws;
  test::ResetPlanCounts();
  const std::string bad = R"(network { name: "bad" op { type: "PlanTestUnknown" } })";
  EXPECT_TRUE(RunPlan(&ws, bad + R"(execution_step {
    substep { network: "count" } substep { network: "bad" num_iter: 0 } })"));
  EXPECT_EQ(test::PlanRuns(), 1);
  ExpectThrows(
      [&] {
        RunPlan(&ws, bad + R"(execution_step {
          substep { network: "count" } substep { network: "bad" } })");
      },
      "PlanTestUnknown");
  EXPECT_EQ(test::PlanRuns(), 2);
}

TEST(PlanExecutorTest, ReportsTheFormOfAllStepsBeforeAnyRuns) {
  Workspace ws;
  test::ResetPlanCounts();
  for (const char* step :
       {R"(network: "nope")", R"(network: "count" should_stop_blob: "none")",
        R"(network: "count" report_net: "count")", R"(network: "count" only_once: true)"}) {
    EXPECT_THROW(RunPlan(&ws, MakeString(R"(execution_step { substep { network: "count" }
                                              substep { )",
                                         step, " } }")),
                 EnforceNotMet)
        << step;
  }
  EXPECT_EQ(test::PlanRuns(), 0);
}

// The blob is created in the parent first, as if all substeps were compiled before the first one
// runs.
TEST(PlanExecutorTest, AChildWorkspaceWritesABlobThatALaterStepCreates) {
  Workspace ws;
  Feed<float>(&ws, "one", {1}, {1});
  EXPECT_TRUE(RunPlan(&ws, R"(
    network { name: "a" op { type: "Copy" input: "one" output: "z" } }
    network { name: "b" op { type: "Copy" input: "one" output: "z" } }
    execution_step { substep { create_workspace: true network: "a" }
                     substep { network: "b" num_iter: 0 } })"));
  ExpectTensor<float>(ws, "z", {1}, {1});
}

// When there are many of them, workspaces, blobs, nets and reporters take long to create.
TEST(PlanExecutorTest, NothingIsMadeForStepsAfterASignal) {
  Workspace ws;
  test::ResetPlanCounts();
  const std::string later = R"({ report_net: "bad" report_interval: 1 network: "inner" } )";
  EXPECT_TRUE(RunPlan(&ws, R"(network { name: "raise" op { type: "PlanTestRaise" } }
    network { name: "bad" op { type: "PlanTestUnknown" output: "made" } }
    execution_step { substep { network: "raise" } substep )" +
                               later + "} execution_step " + later));
  EXPECT_TRUE(ws.HasBlob("made"));  // belongs to the step that had begun
  EXPECT_EQ(ws.GetNet("inner"), nullptr);
  Workspace other;
  EXPECT_TRUE(RunPlan(&other, R"(network { name: "raise" op { type: "PlanTestRaise" } }
    execution_step { network: "raise" } execution_step { network: "inner" })"));
  EXPECT_FALSE(other.HasBlob("n"));
}

TEST(PlanExecutorTest, ASignalEndsAllLoopsAroundTheOneThatSeesIt) {
  Workspace ws;
  test::ResetPlanCounts();
  const std::string raise = R"(network { name: "raise"
    op { type: "PlanTestCount" } op { type: "PlanTestRaise" } })";
  for (const char* stop : {"", "create_workspace: true"}) {
    EXPECT_TRUE(RunPlan(&ws, raise + "execution_step { num_iter: 1000 substep { num_iter: 1000 " +
                                 stop + R"( network: "raise" } substep { network: "count" } } )" +
                                 R"(execution_step { network: "count" })"));
  }
  EXPECT_EQ(test::PlanRuns(), 2);
}

}  // namespace
}  // namespace caffe2rt::plan_executor_test
