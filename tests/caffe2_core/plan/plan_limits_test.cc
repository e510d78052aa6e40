#include "caffe2_core/plan/plan_limits.h"

#include <gtest/gtest.h>

#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_limits_test {
namespace {

using test::ExpectThrows;
using testing::AllOf;
using testing::HasSubstr;

// Returns `levels` nested steps around `inner`, each with `instances` concurrent instances.
std::string Nested(int levels, int instances, const std::string& inner) {
  std::string step = inner;
  for (int i = 0; i < levels; ++i) {
    step = "num_concurrent_instances: " + std::to_string(instances) + " substep { " + step + " }";
  }
  return "execution_step { name: \"top\" " + step + " }";
}
std::string Problem(const std::string& text) { return PlanLimitProblem(test::ParsePlan(text)); }

TEST(PlanLimitsTest, RejectsNestedInstancesBeforeCreatingAny) {
  Workspace ws;
  test::ResetPlanCounts();
  ExpectThrows(
      [&] {
        test::RunPlanText(&ws, R"(network { name: "count" op { type: "PlanTestCount" } })"
                               R"(execution_step { network: "count" })" +
                                   Nested(6, 1000, R"(network: "count")"));
      },
      "runs 1001000 threads at once with the steps below it, want at most 1024");
  EXPECT_EQ(test::PlanRuns(), 0);
  EXPECT_THAT(Problem(Nested(60, 2147483647, "")), HasSubstr("threads at once"));
}

TEST(PlanLimitsTest, ThreadsOfAllLevelsCount) {
  // 32 threads, each of which starts 31 more.
  EXPECT_EQ(Problem(Nested(1, 1024, "")), "");
  EXPECT_THAT(Problem(Nested(1, 1025, "")),
              AllOf(HasSubstr("step \"top\" runs 1025 threads"), HasSubstr("num_concurrent_inst")));
  EXPECT_EQ(Problem(R"(execution_step { num_concurrent_instances: 32
                         substep { num_concurrent_instances: 31 substep { } } })"),
            "");
  EXPECT_THAT(Problem(R"(execution_step { num_concurrent_instances: 32
                           substep { num_concurrent_instances: 32 substep { } } })"),
              HasSubstr("runs 1056 threads"));
  EXPECT_THAT(Problem(R"(execution_step { num_concurrent_instances: 512 report_net: "r"
                           substep { } substep { } })"),
              HasSubstr("runs 1025 threads"));
}

TEST(PlanLimitsTest, StepsThatRunOneAfterTheOtherShareThreads) {
  std::string plan;
  for (int i = 0; i < 3; ++i) plan += Nested(1, 1000, "");
  plan += "execution_step { ";
  for (int i = 0; i < 2000; ++i) plan += "substep { num_concurrent_instances: 2 substep { } }\n";
  EXPECT_EQ(Problem(plan + "}"), "");
}

// Of those that run one after the other, the one with the most threads counts, wherever it is.
TEST(PlanLimitsTest, TheLargestOfSeveralSequentialStepsCounts) {
  const std::string large = "substep { num_concurrent_instances: 511 substep { } } ",
                    larger = "substep { num_concurrent_instances: 512 substep { } } ",
                    small = "substep { num_concurrent_instances: 3 substep { } } ",
                    one = "substep { } ";
  const auto twice = [](const std::string& steps) {
    return Problem("execution_step { name: 's' num_concurrent_instances: 2 substep { " + steps +
                   "} }");
  };
  // Two instances, each with 511 more threads: 1,024.
  for (const std::string& steps :
       {large + small + one, small + large + one, one + small + large, large + large}) {
    EXPECT_EQ(twice(steps), "");
  }
  for (const std::string& steps :
       {larger + small + one, small + larger + one, one + small + larger, large + larger + large}) {
    EXPECT_THAT(twice(steps), HasSubstr("step \"s\" runs 1026 threads at once"));
  }
}

TEST(PlanLimitsTest, LimitsStepsAndNetsOfAllInstances) {
  std::string nets;
  for (int i = 0; i < 70; ++i) nets += R"(network: "n" )";
  EXPECT_THAT(Problem(Nested(1, 1000, nets)),
              HasSubstr("step \"top\" has 71001 steps and nets, counting concurrent instances"));
  EXPECT_EQ(Problem(Nested(1, 100, nets)), "");
  std::string many;
  for (int i = 0; i < 66; ++i) many += Nested(1, 999, "");
  EXPECT_THAT(Problem("name: \"p\" " + many), HasSubstr("plan \"p\" has 66000 steps and nets"));
}

// A step with `instances` substeps of `nets` nets each: 1 + instances * (1 + nets) steps and nets.
TEST(PlanLimitsTest, AcceptsExactlyTheMostStepsAndNets) {
  const auto problem = [](int instances, int nets) {
    std::string inner;
    for (int i = 0; i < nets; ++i) inner += R"(network: "n" )";
    return Problem(Nested(1, instances, inner));
  };
  EXPECT_EQ(problem(255, 256), "");  // 1 + 255 * 257 = 65536
  EXPECT_EQ(problem(256, 255),       // 1 + 256 * 256
            "step \"top\" has 65537 steps and nets, counting concurrent instances, want at most "
            "65536: lower num_concurrent_instances");
}

// A reporter runs once for all instances of the step around it.
TEST(PlanLimitsTest, ReportersAreNotMultipliedByInstances) {
  std::string nets;
  for (int i = 0; i < 70; ++i) nets += R"(network: "n" )";
  const std::string start = "execution_step { num_concurrent_instances: 1000 substep { ";
  EXPECT_EQ(Problem(start + "} substep { run_every_ms: 5 " + nets + "} }"), "");
  EXPECT_THAT(Problem(start + nets + "} }"), HasSubstr("has 71001 steps and nets"));
  // 1000 instances of one substep, the reporter and the 23 threads of its own instances.
  const auto with_reporter = [&](int instances) {
    return Problem(MakeString(start, "} substep { run_every_ms: 5 num_concurrent_instances: ",
                              instances, " substep { } } }"));
  };
  EXPECT_EQ(with_reporter(23), "");
  EXPECT_THAT(with_reporter(24), HasSubstr("runs 1025 threads"));
}

TEST(PlanLimitsTest, LimitsTheDepth) {
  PlanDef plan;
  ExecutionStep* step = plan.add_execution_step();
  for (int i = 0; i < 64; ++i) step = step->add_substep();
  EXPECT_EQ(PlanLimitProblem(plan), "");
  step->add_substep();
  EXPECT_THAT(PlanLimitProblem(plan), HasSubstr("nested more than 64 deep"));
}

}  // namespace
}  // namespace caffe2rt::plan_limits_test
