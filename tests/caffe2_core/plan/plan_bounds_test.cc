// Bounds of plans that few of them reach: numbers of child workspaces, targets that the policy for files
// forbids, and conflicts of operators and reporters that list no blob or are read late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/plan/compiled_step.h"
#include "caffe2_core/plan/plan_races.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::plan_bounds_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::MessageOf;
using test::Net;
using test::Op;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kNothing = "(nothing was thrown)";

// Loads any blob, and lists none.
const std::string kAny = R"(op { type: "Load" arg { name: "db" s: "none" }
    arg { name: "db_type" s: "minidb" } arg { name: "load_all" i: 1 } } )";

std::string RunMessage(Workspace* ws, const std::string& plan) {
  return MessageOf([&] { EXPECT_TRUE(test::RunPlanText(ws, plan)); });
}

// The number of a child workspace has 16 bits.
TEST(PlanBoundsTest, AChildWorkspaceHasOneOf65536Numbers) {
  const PlanDef plan =
      test::ParsePlan(Net("id", "op { type: 'Copy' input: 'GLOBAL_WORKSPACE_ID' output: 'z' }") +
                      "execution_step { create_workspace: true network: 'id' }");
  for (const int32_t node : {0, 3}) {
    Workspace ws;
    ws.CreateBlob("z");
    Feed<int32_t>(&ws, "NODE_ID", {1}, {node});
    PlanRun run(plan);
    NetPool nets(&run.defs, &ws, NetPool::Keep::kInWorkspace);
    const StepPlace place = {.ws = &ws, .nets = &nets};
    const auto go_on = [](int64_t i) { return i < 1; };
    for (const int number : {0, 32767, 32768, 65535}) {
      run.child_workspaces = number;
      EXPECT_TRUE(RunInChildWorkspace(plan.execution_step(0), place, std::nullopt, &run, go_on));
      ExpectTensor<int32_t>(ws, "z", {},
                            {static_cast<int32_t>(static_cast<uint32_t>(node) * 65536u +
                                                  static_cast<uint32_t>(number))});
      EXPECT_EQ(run.child_workspaces, number + 1);
    }
    EXPECT_EQ(MessageOf([&] {
                (void)RunInChildWorkspace(plan.execution_step(0), place, std::nullopt, &run, go_on);
              }),
              "number of child workspaces of a plan: got 65536, want less than 65536");
    // Without a node there is no number.
    Workspace other;
    other.CreateBlob("z");
    Feed<int32_t>(&other, "GLOBAL_WORKSPACE_ID", {}, {9});
    NetPool pool(&run.defs, &other, NetPool::Keep::kInWorkspace);
    EXPECT_TRUE(RunInChildWorkspace(plan.execution_step(0), {.ws = &other, .nets = &pool},
                                    std::nullopt, &run, go_on));
    ExpectTensor<int32_t>(other, "z", {}, {9});
  }
}

// Before anything runs, whether the name of the file is known or only its folder.
TEST(PlanBoundsTest, TargetsThatThePolicyForbidsAreFoundBeforeThePlanRuns) {
  const test::TempDir allowed, other;
  Workspace ws(other.path());
  Feed<float>(&ws, "x", {1}, {1});
  Feed<int64_t>(&ws, "i", {1}, {1});
  const auto run = [&](const std::string& type, const std::string& path, const FileAccess& access) {
    ws.SetFileAccess(access);
    test::ResetPlanCounts();
    const std::string message = RunMessage(
        &ws,
        "network { name: 'count' op { type: 'PlanTestCount' } } network { name: 'save' op { "
        "type: '" +
            type +
            "' input: 'i' input: 'x' arg { name: 'db_type' s: 'minidb' } arg { name: "
            "'every' i: 1 } arg { name: 'absolute_path' i: 1 } arg { name: 'db' s: '" +
            path + "' } } } execution_step { network: 'count' network: 'save' }");
    EXPECT_EQ(test::PlanRuns(), message == kNothing ? 1 : 0) << message;
    return message;
  };
  const FileAccess below = FileAccess::Below({allowed.path()}, "ask the owner");
  for (const auto& [type, name] : std::vector<std::pair<std::string, std::string>>{
           {"Save", "m"}, {"Checkpoint", "m_%d"}, {"Snapshot", "s_%d"}}) {
    const std::string before = "operator 0 (" + type + ") of net \"save\", before the plan runs: ";
    EXPECT_EQ(run(type, allowed.path(name), below), kNothing);
    EXPECT_THAT(
        run(type, other.path(name), below),
        testing::AllOf(StartsWith(before), HasSubstr(other.path(name)), EndsWith("ask the owner")));
    EXPECT_THAT(run(type, allowed.path(name), FileAccess::Off("ask the owner")),
                testing::AllOf(StartsWith(before), EndsWith("ask the owner")));
    EXPECT_EQ(run(type, other.path(name), FileAccess::Free()), kNothing);
  }
}

// Neither net lists a blob, so that the message names none.
TEST(PlanBoundsTest, OperatorsThatListNoBlobConflictWithEachOther) {
  const std::string together = R"(execution_step { concurrent_substeps: true
      substep { name: "a" network: "a" } substep { name: "b" network: "b" } })";
  Workspace ws;
  EXPECT_THAT(
      RunMessage(&ws, Net("a", kAny) + Net("b", kAny) + together),
      StartsWith("any blob may be accessed by operator Load of step \"a\" (net \"a\") while it is "
                 "used by step \"b\" (net \"b\"): use different blobs"));
  EXPECT_THAT(
      RunMessage(&ws, Net("a", kAny) + R"(execution_step { num_concurrent_instances: 2
                                  substep { name: "a" network: "a" } })"),
      StartsWith("any blob may be accessed by operator Load of step \"a\" (net \"a\") while "
                 "it is used by another instance of step \"a\" (net \"a\"): "));
  // A net that uses no blob at all conflicts with none.
  EXPECT_THAT(RunMessage(&ws, Net("a", kAny) + Net("b", Op("PlanTestCount", "", "")) + together),
              Not(HasSubstr("may be accessed")));
  Feed<float>(&ws, "x", {1}, {1});
  EXPECT_THAT(RunMessage(&ws, Net("a", Op("Copy", "x", "y")) + Net("b", kAny) + together),
              StartsWith("blob \"x\" may be accessed by operator Load of step \"b\" (net \"b\") "
                         "while it is used by step \"a\" (net \"a\"): "));
}

// The reporter may create a name of any of the child workspaces, whichever substep has it.
TEST(PlanBoundsTest, AReporterThatCreatesAnyBlobConflictsWithEveryChildWorkspace) {
  const std::string nets =
      Net("r", kAny) + Net("n", Op("Copy", "x", "z")) + Net("idle", Op("PlanTestCount", "", ""));
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  const auto message = [&](const std::string& substeps) {
    return RunMessage(&ws, nets + R"(execution_step { report_net: "r" report_interval: 86400
        substep { concurrent_substeps: true )" +
                               substeps + " } }");
  };
  const std::string child = "substep { name: 'child' create_workspace: true network: 'n' } ";
  const std::string idle = "substep { name: 'idle' network: 'idle' } ";
  const std::string want =
      "blob \"x\" may be created by the reporter net \"r\" while it is used in a child workspace "
      "by "
      "step \"child\" (net \"n\"): ";
  EXPECT_THAT(message(child + idle), StartsWith(want));
  EXPECT_THAT(message(idle + child), StartsWith(want));
  EXPECT_THAT(message(idle + idle +
                      "substep { name: 'child' substep { create_workspace: true "
                      "network: 'n' } } "),
              StartsWith(want));
  EXPECT_EQ(message(idle + idle), kNothing);
  EXPECT_EQ(message(idle + "substep { create_workspace: true network: 'idle' } "), kNothing);
}

// The reporter of the outer step is looked up first, without reading what its blob holds.
TEST(PlanBoundsTest, ABlobThatAReporterAroundUsesIsStillReadForItsUsers) {
  const std::string tally = Op("PlanTestTally", "t", "t"),
                    plain = Op("PlanTestPlainTally", "u", "u");
  const auto message = [](const std::string& op, const std::string& reporter) {
    Workspace ws;
    ws.CreateBlob("t")->GetMutable<test::Tally>();
    ws.CreateBlob("u")->GetMutable<test::PlainTally>();
    return RunMessage(&ws, Net("a", op) + Net("b", op) + Net("r", reporter) +
                               Net("c", Op("PlanTestCount", "", "")) +
                               R"(execution_step { concurrent_substeps: true
        report_net: "r" report_interval: 86400
        substep { name: "deep" substep { concurrent_substeps: true
          substep { name: "a" network: "a" } substep { name: "b" network: "b" } } }
        substep { name: "c" network: "c" } })");
  };
  EXPECT_EQ(message(tally, Op("PlanTestCount", "", "")), kNothing);
  EXPECT_EQ(message(tally, tally), kNothing);
  EXPECT_EQ(message(tally, Op("PlanTestCount", "t", "")), kNothing);
  EXPECT_THAT(
      message(plain, Op("PlanTestCount", "u", "")),
      StartsWith("blob \"u\" is written by step \"a\" (net \"a\") while it is written by step "
                 "\"b\" (net \"b\")"));
}

}  // namespace
}  // namespace caffe2rt::plan_bounds_test
