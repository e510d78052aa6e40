#include "caffe2_core/plan/plan_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/plan/plan_operators.h"

namespace caffe2rt::plan_check_test {
namespace {

using test::kTogether;
using test::Net;
using test::Op;
using testing::HasSubstr;

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

}  // namespace
}  // namespace caffe2rt::plan_check_test
