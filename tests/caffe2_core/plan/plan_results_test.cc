// What plans return if a net fails without an exception, which targets are checked, and texts of
// positions in loops without a number of iterations.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::plan_results_test {
namespace {

// A user's net whose run fails.
class PlanResultsFalseNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return false; }
};
REGISTER_NET(plan_results_false, PlanResultsFalseNet);

const std::string kNets = R"(network { name: "fail" type: "plan_results_false" }
                             network { name: "count" op { type: "PlanTestCount" } } )";

TEST(PlanResultsTest, ANetThatReturnsFalseEndsThePlan) {
  const struct {
    const char* steps;
    int runs;  // of "count"
  } rows[] = {
      {"execution_step { network: 'fail' }", 0},
      {"execution_step { network: 'count' network: 'fail' network: 'count' }", 1},
      {"execution_step { network: 'fail' } execution_step { network: 'count' }", 0},
      {"execution_step { num_iter: 3 substep { network: 'count' } substep { network: 'fail' } "
       "substep { network: 'count' } }",
       1},
      {"execution_step { substep { substep { network: 'fail' } } substep { network: 'count' } }",
       0},
      {"execution_step { create_workspace: true network: 'fail' } execution_step { network: "
       "'count' }",
       0},
      {"execution_step { substep { create_workspace: true network: 'fail' } substep { network: "
       "'count' } }",
       0},
      {"execution_step { network: 'count' network: 'fail' should_stop_blob: 'stop' }", 1},
      {"execution_step { concurrent_substeps: true substep { network: 'fail' } substep { network: "
       "'fail' } } execution_step { network: 'count' }",
       0},
      {"execution_step { num_iter: 5 substep { num_concurrent_instances: 2 substep { network: "
       "'fail' } } substep { network: 'count' } }",
       0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.steps);
    Workspace ws;
    Feed<bool>(&ws, "stop", {1}, {false});
    ResetPlanCounts();
    EXPECT_FALSE(RunPlanText(&ws, kNets + row.steps));
    EXPECT_EQ(PlanRuns(), row.runs);
  }
}

// A report net that fails is logged only.
TEST(PlanResultsTest, AReportThatReturnsFalseDoesNotEndThePlan) {
  Workspace ws;
  ResetPlanCounts();
  EXPECT_TRUE(RunPlanText(&ws, kNets + R"(execution_step { network: "count" num_iter: 2
      report_net: "fail" report_interval: 3600 })"));
  EXPECT_EQ(PlanRuns(), 2);
}

TEST(PlanResultsTest, WithAFunctionSignalsDoNotEndThePlan) {
  const SignalHandler handled;
  const PlanDef plan = ParsePlan(R"(network { name: "raise"
      op { type: "PlanTestCount" } op { type: "PlanTestRaise" } }
    execution_step { network: "raise" num_iter: 3 } execution_step { network: "raise" })");
  Workspace ws;
  ResetPlanCounts();
  EXPECT_TRUE(RunPlanOnWorkspace(&ws, plan, std::function<bool(int)>()));
  EXPECT_EQ(PlanRuns(), 4);
  EXPECT_TRUE(ws.RunPlan(plan, [](int i) { return i < 2; }));
  EXPECT_EQ(PlanRuns(), 7);
  PlanOptions options;  // without a function, a signal ends the plan
  EXPECT_TRUE(RunPlanOnWorkspace(&ws, plan, options));
  EXPECT_EQ(PlanRuns(), 8);
}

TEST(PlanResultsTest, PositionsInLoopsThatABlobEndsHaveNoTotal) {
  ExecutionStep loop, ten, zero, unnamed;
  loop.set_name("loop");
  loop.set_should_stop_blob("stop");
  ten.set_name("ten");
  ten.set_num_iter(10);
  zero.set_name("zero");
  zero.set_num_iter(0);
  const PlanPosition outer = {.step = &loop, .iteration = 41};
  EXPECT_EQ(PlanPositionText(outer), "step \"loop\", iteration 42");
  EXPECT_EQ(PlanPositionText({.step = &ten, .iteration = 9, .outer = &outer}),
            "step \"loop\", iteration 42, step \"ten\", iteration 10 of 10");
  EXPECT_EQ(PlanPositionText({.step = &zero}), "step \"zero\"");
  // An unnamed step around another one is left out only if it runs once.
  const PlanPosition once = {.step = &unnamed, .outer = &outer};
  EXPECT_EQ(PlanPositionText({.step = &ten, .outer = &once}),
            "step \"loop\", iteration 42, step \"ten\", iteration 1 of 10");
  EXPECT_EQ(PlanPositionText(once), "step \"loop\", iteration 42, a step");
  unnamed.set_should_stop_blob("stop");
  EXPECT_EQ(PlanPositionText({.step = &ten, .outer = &once}),
            "step \"loop\", iteration 42, a step, iteration 1, step \"ten\", iteration 1 of 10");
  unnamed.add_network("a");
  unnamed.set_only_once(true);
  EXPECT_EQ(PlanPositionText(once),
            "step \"loop\", iteration 42, the step of net \"a\", iteration 1");
}

// A net that accesses blobs it does not list, before and after a net that lists all of its own.
TEST(PlanResultsTest, ASubstepAccessesWhatAnyOfItsNetsDoes) {
  const std::string any = Net(
      "any", R"(op { type: "Load" arg { name: "db" s: "none" } arg { name: "db_type" s: "minidb" }
                         arg { name: "load_all" i: 1 } })");
  const std::string nets = any + Net("a", Op("Copy", "x", "p")) + Net("b", Op("Copy", "y", "q"));
  for (const char* first : {"network: 'any' network: 'a'", "network: 'a' network: 'any'",
                            "substep { network: 'any' } substep { network: 'a' }"}) {
    SCOPED_TRACE(first);
    for (const bool swapped : {false, true}) {
      Workspace ws;
      Feed<float>(&ws, "x", {1}, {1});
      Feed<float>(&ws, "y", {1}, {1});
      const std::string one = std::string("substep { name: 'a' ") + first + " }",
                        two = " substep { name: 'b' network: 'b' }";
      ExpectThrows(
          [&] {
            RunPlanText(&ws, nets + "execution_step { concurrent_substeps: true " +
                                 (swapped ? two + one : one + two) + " }");
          },
          "may be accessed by operator Load of step \"a\" (net \"any\") while it is used by step "
          "\"b\"");
    }
  }
}

TEST(PlanTargetsTest, AreCheckedWhereverTheyCertainlyRun) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("weights"));
  Workspace ws(dir.path());
  Feed<float>(&ws, "x", {1}, {1});
  Feed<int64_t>(&ws, "i", {1}, {1});
  Feed<bool>(&ws, "stop", {1}, {true});
  const auto save = [](const std::string& type, const std::string& args) {
    return "network { name: 'save' op { type: 'Copy' input: 'x' output: 'y' } op { type: '" + type +
           "' input: 'i' input: 'x' arg { name: 'db_type' s: 'lmdb' } arg { name: 'every' i: 1 } " +
           args + " } } ";
  };
  const auto message = [&](const std::string& net, const std::string& steps) {
    ResetPlanCounts();
    const std::string text = MessageOf([&] { RunPlanText(&ws, kNets + net + steps); });
    EXPECT_EQ(PlanRuns(), 0);
    return text;
  };
  const std::string relative = save("Save", "arg { name: 'db' s: 'weights' }");
  const std::string where = "operator 1 (Save) of net \"save\", before the plan runs: ";
  const std::string want = where + "cannot create lmdb \"" + dir.path("weights") +
                           "\": it exists; remove it, or choose another path";
  for (const char* steps :
       {"execution_step { network: 'save' }", "execution_step { network: 'count' network: 'save' }",
        "execution_step { network: 'count' } execution_step { network: 'save' num_iter: 2 }",
        "execution_step { substep { network: 'count' } substep { substep { network: 'save' } } }",
        "execution_step { network: 'save' network: 'count' should_stop_blob: 'stop' }",
        "execution_step { substep { network: 'save' } should_stop_blob: 'stop' }",
        "execution_step { substep { run_every_ms: 9000 network: 'count' } substep { network: "
        "'save' } should_stop_blob: 'stop' }",
        "execution_step { create_workspace: true network: 'save' }"}) {
    EXPECT_EQ(message(relative, steps), want) << steps;
  }
  // What never runs is not checked.
  const std::string refused =
      MessageOf([&] { RunPlanText(&ws, kNets + relative + "execution_step { network: 'save' }"); });
  EXPECT_EQ(refused, want);
  for (const char* steps :
       {"execution_step { network: 'save' num_iter: 0 }",
        "execution_step { network: 'save' num_iter: -1 }",
        "execution_step { num_iter: 0 substep { network: 'save' } }",
        "execution_step { num_iter: 2 substep { network: 'save' num_iter: 0 } }",
        "execution_step { network: 'count' network: 'save' should_stop_blob: 'stop' }",
        "execution_step { substep { network: 'count' } substep { network: 'save' } "
        "should_stop_blob: 'stop' }"}) {
    EXPECT_EQ(MessageOf([&] { RunPlanText(&ws, kNets + relative + steps); }),
              "(nothing was thrown)")
        << steps;
  }
  EXPECT_EQ(message(save("Save", "arg { name: 'absolute_path' i: 1 } arg { name: 'db' s: '" +
                                     dir.path("weights") + "' }"),
                    "execution_step { network: 'save' }"),
            want);
  // The folder of a pattern is checked if it is known, its name is not.
  const std::string of_pattern = "operator 1 (Checkpoint) of net \"save\", before the plan runs: ";
  EXPECT_EQ(message(save("Checkpoint", "arg { name: 'db' s: 'none/w_%d' }"),
                    "execution_step { network: 'save' }"),
            of_pattern + "cannot create the database \"" + dir.path("none/w_%d") +
                "\": its folder \"" + dir.path("none") + "\" does not exist");
  for (const char* pattern : {"weights_%d", "none_%d/w"}) {
    const std::string text = MessageOf([&] {
      RunPlanText(&ws, save("Checkpoint", MakeString("arg { name: 'db' s: '", pattern, "' }")) +
                           "execution_step { network: 'save' num_iter: 0 }"
                           "execution_step { should_stop_blob: 'stop' only_once: true "
                           "substep { network: 'save' num_iter: 0 } substep { network: 'save' } }");
    });
    EXPECT_EQ(text.find("before the plan runs"), std::string::npos) << text;
  }
  // Which folder it will be is not known before the iteration.
  const std::string unknown = MessageOf([&] {
    RunPlanText(&ws, save("Checkpoint", "arg { name: 'db' s: 'none_%d/w' }") +
                         "execution_step { network: 'save' }");
  });
  EXPECT_NE(unknown.find(dir.path("none_1/w")), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("before the plan runs"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace caffe2rt::test::plan_results_test
