// Errors of plans and their steps, whole: those that are found before anything runs, and those of a run.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/plan/plan_limits.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::plan_refusals_test {
namespace {

using test::Feed;
using test::MessageOf;
using test::Net;
using test::Op;

std::string Refusal(const std::string& plan, Workspace* ws) {
  return MessageOf([&] { test::RunPlanText(ws, plan); });
}
std::string Refusal(const std::string& plan) {
  Workspace ws;
  return Refusal(plan, &ws);
}

TEST(PlanRefusalsTest, OfSteps) {
  const std::string net = Net("count", "op { type: \"PlanTestCount\" }");
  const auto step = [&](const std::string& text) {
    return Refusal(net + "execution_step { name: \"s\" " + text + " }");
  };
  EXPECT_EQ(step("network: 'count'"), "(nothing was thrown)");
  EXPECT_EQ(step("network: 'count' substep { network: 'count' }"),
            "step \"s\" has substeps and networks, want one or the other");
  EXPECT_EQ(step("network: 'count' report_net: 'count'"),
            "step \"s\": a report_interval must be provided if report_net is set.");
  for (const char* more : {"", "concurrent_substeps: true ", "substep { network: 'count' } "}) {
    EXPECT_EQ(step(MakeString(more, "substep { network: 'count' } report_net: 'count'")),
              "step \"s\": a report_interval must be provided if report_net is set.");
  }
  EXPECT_EQ(step("network: 'count' only_once: true"),
            "step \"s\": only_once without should_stop_blob is not supported");
  EXPECT_EQ(step("network: 'count' num_iter: 1 should_stop_blob: 'b'"),
            "step \"s\": Must not specify num_iter if should_stop_blob is set");
  EXPECT_EQ(step("network: 'coun'"), "network \"coun\" not found in the plan; close: count");
  EXPECT_EQ(step("network: 'unlike'"), "network \"unlike\" not found in the plan");
  EXPECT_EQ(Refusal(net + Net("count1", "") + "execution_step { network: 'count2' }"),
            "network \"count2\" not found in the plan; close: count, count1");
  EXPECT_EQ(step("network: 'count' report_net: 'unlike' report_interval: 1"),
            "network \"unlike\" not found in the plan");
  EXPECT_EQ(step("substep { name: 'below' network: 'count' only_once: true }"),
            "step \"below\": only_once without should_stop_blob is not supported");
  EXPECT_EQ(step("network: 'count' should_stop_blob: 'none'"),
            "should_stop_blob \"none\" of step \"s\" does not exist");
  EXPECT_EQ(step("substep { name: 'below' network: 'count' should_stop_blob: 'none' }"),
            "should_stop_blob \"none\" of step \"below\" does not exist");
  EXPECT_EQ(MessageOf([] { RunPlanOnWorkspace(nullptr, PlanDef(), PlanOptions()); }),
            "argument ws of RunPlanOnWorkspace is null");
}

TEST(PlanRefusalsTest, OfTooLargePlans) {
  EXPECT_EQ(
      Refusal("execution_step { name: 's' num_concurrent_instances: 1025 substep { } }"),
      "step \"s\" runs 1025 threads at once with the steps below it, want at most 1024: lower "
      "num_concurrent_instances");
  std::string step = "execution_step { name: 's' num_concurrent_instances: 1000 substep { ";
  for (int i = 0; i < 65; ++i) step += "network: 'n' ";
  EXPECT_EQ(
      Refusal(Net("n", "") + step + "} }"),
      "step \"s\" has 66001 steps and nets, counting concurrent instances, want at most 65536: "
      "lower num_concurrent_instances");
  std::string many = "name: 'p' ";
  for (int i = 0; i < 66; ++i)
    many += "execution_step { num_concurrent_instances: 999 substep { } } ";
  EXPECT_EQ(
      PlanLimitProblem(test::ParsePlan(many)),
      "plan \"p\" has 66000 steps and nets, counting concurrent instances, want at most 65536: "
      "lower num_concurrent_instances");
  std::string deep = "substep { }";
  for (int i = 0; i < 64; ++i) deep = "substep { " + deep + " }";
  EXPECT_EQ(PlanLimitProblem(test::ParsePlan("execution_step { " + deep + " }")),
            "steps are nested more than 64 deep");
  // Threads saturate instead of overflowing.
  std::string huge = "num_concurrent_instances: 2147483647 substep { }";
  for (int i = 0; i < 4; ++i)
    huge = "num_concurrent_instances: 2147483647 substep { " + huge + " }";
  const std::string problem =
      PlanLimitProblem(test::ParsePlan("execution_step { name: 's' " + huge + " }"));
  EXPECT_EQ(problem.substr(0, problem.find(" threads")), "step \"\" runs 2147483647");
}

// The id of a node is in the upper half of those of its child workspaces, their number in the lower.
TEST(PlanRefusalsTest, OfTheIdsOfNodes) {
  const std::string plan = Net("n", Op("Copy", "x", "y")) +
                           R"(network { name: "id" op { type: "Copy" input: "GLOBAL_WORKSPACE_ID"
                              output: "z" } }
                              execution_step { create_workspace: true network: "n" })";
  const auto refusal = [&](std::vector<int64_t> dims, std::vector<int32_t> values) {
    Workspace ws;
    Feed<float>(&ws, "x", {1}, {1});
    Feed<int32_t>(&ws, "NODE_ID", std::move(dims), std::move(values));
    return Refusal(plan, &ws);
  };
  EXPECT_EQ(refusal({1}, {3}), "(nothing was thrown)");
  EXPECT_EQ(refusal({}, {3}), "(nothing was thrown)");
  EXPECT_EQ(refusal({2}, {3, 4}), "blob \"NODE_ID\" has shape [2], want one int32");
  EXPECT_EQ(refusal({0}, {}), "blob \"NODE_ID\" has shape [0], want one int32");
}

}  // namespace
}  // namespace caffe2rt::plan_refusals_test
