#include "caffe2_core/plan/plan_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/plan/plan_operators.h"

namespace caffe2rt::plan_check_test {
namespace {

using test::kTogether;
using test::Net;
using test::Op;
using testing::HasSubstr;

OPERATOR_SCHEMA(PlanTestUnlisted).AccessesUnlistedBlobs([](const OperatorDef&) { return true; });
OPERATOR_SCHEMA(PlanTestModifies).NumInputs(1, 3).NumOutputs(0, 1).ModifiesInputs({1});

TEST(PlanCheckTest, ReportsTheConflictsThatAnyWorkspaceHas) {
  const auto races = [](const std::string& text) {
    return FindRacesInAnyWorkspace(test::ParsePlan(text));
  };
  const std::string instances = R"(execution_step { num_concurrent_instances: 2
    substep { name: "s" create_workspace: true network: "n" } })";
  // Whether x exists depends on the workspace.
  EXPECT_TRUE(races(Net("n", Op("Copy", "y", "x")) + instances).empty());
  // An earlier step creates x.
  EXPECT_THAT(
      races(Net("n", Op("Copy", "y", "x")) + R"(execution_step { network: "n" })" + instances),
      testing::ElementsAre(HasSubstr("blob \"x\"")));
  EXPECT_THAT(races(Net("a", Op("Relu", "x", "x")) + Net("b", Op("Copy", "x", "z")) + kTogether),
              testing::ElementsAre(HasSubstr("blob \"x\"")));
  // The blob may hold an object that synchronizes itself.
  EXPECT_TRUE(races(Net("a", Op("PlanTestTally", "t", "t")) +
                    Net("b", Op("PlanTestTally", "t", "t")) + kTogether)
                  .empty());
}

TEST(PlanCheckTest, FindsConflictsBelowAConcurrentStep) {
  const std::string nets = Net("a", Op("ConstantFill", "", "x")) +
                           Net("b", Op("ConstantFill", "", "x")) +
                           Net("c", Op("ConstantFill", "", "z"));
  const std::string inner = R"(concurrent_substeps: true substep { network: "a" }
      substep { network: "b" } } substep { network: "c" } })";
  for (const char* outer :
       {"execution_step { concurrent_substeps: true substep { ", "execution_step { substep { "}) {
    EXPECT_THAT(FindRacesInAnyWorkspace(test::ParsePlan(nets + outer + inner)),
                testing::ElementsAre(HasSubstr("blob \"x\"")))
        << outer;
  }
}

// "b" reads y, which is an Alias of x, while "a" writes x. Any step in between that may write one of
// them, and any doubt whether the Alias has run, ends what is known.
TEST(PlanCheckTest, KnowsWhatAnEarlierStepHasMadeOneMemory) {
  const auto race = [](const std::string& steps, const std::string& share = Op("Alias", "x", "y")) {
    const std::vector<std::string> races = FindRacesInAnyWorkspace(test::ParsePlan(
        Net("share", Op("ConstantFill", "", "x", "arg { name: \"shape\" ints: 2 }") + share) +
        Net("a", Op("ConstantFill", "", "x")) + Net("b", Op("Copy", "y", "z")) +
        Net("write_x", Op("ConstantFill", "", "x")) + Net("write_y", Op("ConstantFill", "", "y")) +
        Net("read", Op("Copy", "x", "q")) + Net("any", "op { type: 'PlanTestUnlisted' }") + steps));
    return races.empty() ? "" : races[0];
  };
  const auto step = [](const std::string& text) { return "execution_step { " + text + " } "; };
  const std::string share = step("network: 'share'"), together = kTogether;
  EXPECT_EQ(
      race(share + together),
      "blob \"x\" is written by step \"a\" (net \"a\") while \"y\", which is the same, is read "
      "by step \"b\" (net \"b\"): use different blobs (new names in a step with "
      "create_workspace are its own), or allow the race with --allow-races "
      "(PlanOptions::allow_races)");
  EXPECT_EQ(race(together), "");
  EXPECT_EQ(race(together + share), "");
  EXPECT_NE(race(step("substep { network: 'share' } substep { network: 'read' }") + together), "");
  EXPECT_NE(race(step("num_iter: 1 network: 'share'") + step("network: 'read'") + together), "");
  EXPECT_NE(race(share + together, Op("Alias", "x", "p") + Op("Alias", "p", "y")), "");
  for (const char* doubt : {"num_iter: 0", "create_workspace: true", "should_stop_blob: 'q'",
                            "run_every_ms: 5", "num_concurrent_instances: 2",
                            "concurrent_substeps: true", "report_net: 'read' report_interval: 1"}) {
    EXPECT_EQ(race(step(std::string(doubt) + " network: 'share'") + together), "") << doubt;
  }
  for (const char* end :
       {"network: 'write_x'", "network: 'write_y'", "network: 'any'",
        "should_stop_blob: 'q' network: 'write_y'", "substep { num_iter: 3 network: 'write_x' }"}) {
    EXPECT_EQ(race(share + step(end) + together), "") << end;
  }
  for (const std::string& other :
       {Op("Alias", "x", "y") + Op("ConstantFill", "", "x"),
        Op("Alias", "x", "y") + Op("Copy", "q", "y"), Op("Copy", "x", "y"),
        Op("Alias", "x", "y") + "op { type: 'PlanTestUnlisted' }"}) {
    EXPECT_EQ(race(share + together, other), "") << other;
  }
  // In a loop around the concurrent step, the step may end what is shared.
  EXPECT_EQ(race(share + step("num_iter: 2 substep { network: 'write_x' } substep { "
                              "concurrent_substeps: true substep { network: 'a' } "
                              "substep { network: 'b' } }")),
            "");
}

// An operator that modifies an input may give it other memory, as one that writes an output.
TEST(PlanCheckTest, AModifiedInputSharesNoMemoryAnyMore) {
  const auto races = [](const std::string& between) {
    return FindRacesInAnyWorkspace(
               test::ParsePlan(Net("share", Op("ConstantFill", "", "x") + Op("Alias", "x", "y")) +
                               Net("between", between) + Net("a", Op("ConstantFill", "", "x")) +
                               Net("b", Op("Copy", "y", "z")) +
                               "execution_step { network: 'share' network: 'between' } " +
                               kTogether))
        .size();
  };
  EXPECT_EQ(races(""), 1u);
  EXPECT_EQ(races(Op("PlanTestModifies", "x", "")), 1u);    // input 0 is only read
  EXPECT_EQ(races(Op("PlanTestModifies", "qrx", "")), 1u);  // and so is input 2
  EXPECT_EQ(races(Op("PlanTestModifies", "qx", "")), 0u);
  EXPECT_EQ(races(Op("PlanTestModifies", "qyr", "")), 0u);
  EXPECT_EQ(races(Op("PlanTestModifies", "xq", "y")), 0u);
  EXPECT_EQ(races(Op("PlanTestModifies", "qx", "") + Op("Alias", "x", "y")), 1u);
}

// An x that exists around the instances is the same blob in all their workspaces.
TEST(PlanCheckTest, KnowsTheBlobsOfEarlierStepsAndEnclosingWorkspaces) {
  const std::string instances = R"(num_concurrent_instances: 2
    substep { name: "s" create_workspace: true network: "n" } )";
  const std::string last = "execution_step { " + instances + "} ";
  const struct {
    std::string steps;
    size_t races;
  } rows[] = {
      {last, 0},
      {"execution_step { network: 'idle' } " + last, 0},
      {last + "execution_step { network: 'n' } ", 0},
      {"execution_step { network: 'idle' report_net: 'n' report_interval: 1 } " + last, 1},
      {"execution_step { substep { substep { network: 'n' } } } " + last, 1},
      {"execution_step { network: 'n' } " + last + last, 2},
      // A child workspace keeps its blobs to itself, and to what is below it.
      {"execution_step { create_workspace: true network: 'n' } " + last, 0},
      {"execution_step { substep { create_workspace: true network: 'n' } } " + last, 0},
      {"execution_step { create_workspace: true substep { network: 'n' } substep { " + instances +
           "} } ",
       1},
      {"execution_step { substep { create_workspace: true network: 'n' substep { " + instances +
           "} } } ",
       1},
      {"execution_step { create_workspace: true network: 'n' } execution_step { network: 'n' } " +
           last,
       1},
      {"execution_step { network: 'n' } execution_step { create_workspace: true network: 'n' } " +
           last,
       1},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(FindRacesInAnyWorkspace(test::ParsePlan(Net("n", Op("Copy", "y", "x")) +
                                                      Net("idle", Op("PlanTestCount", "", "")) +
                                                      row.steps))
                  .size(),
              row.races)
        << row.steps;
  }
}

}  // namespace
}  // namespace caffe2rt::plan_check_test
