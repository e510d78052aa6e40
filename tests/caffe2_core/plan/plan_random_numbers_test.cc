// Random numbers of plans in a workspace with a seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_random_numbers_test {
namespace {

// What all operators of a run have drawn, sorted, because instances run at the same time.
struct Drawn {
  Mutex mutex;
  std::vector<uint32_t> numbers ABSL_GUARDED_BY(mutex);
};
Drawn& TheDrawn() {
  static Drawn drawn;
  return drawn;
}

class DrawOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const auto number = static_cast<uint32_t>(context_.RandGenerator()());
    const MutexLock lock(TheDrawn().mutex);
    TheDrawn().numbers.push_back(number);
    return true;
  }
};
REGISTER_CPU_OPERATOR(PlanRandomNumbersTestDraw, DrawOp);
OPERATOR_SCHEMA(PlanRandomNumbersTestDraw).NumInputs(0).NumOutputs(0);

std::vector<uint32_t> Draw(const std::string& steps, std::optional<uint64_t> seed = 1) {
  {
    const MutexLock lock(TheDrawn().mutex);
    TheDrawn().numbers.clear();
  }
  Workspace ws;
  ws.SetRandomSeed(seed);
  EXPECT_TRUE(
      test::RunPlanText(&ws, R"(network { name: "draw" op { type: "PlanRandomNumbersTestDraw" } }
                                        network { name: "other" op { type: "PlanRandomNumbersTestDraw" } })" +
                                 steps));
  const MutexLock lock(TheDrawn().mutex);
  std::vector<uint32_t> numbers = TheDrawn().numbers;
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

struct Plan {
  const char* name;
  const char* steps;
  size_t draws;  // all different
};

const Plan kPlans[] = {
    {"Iterations", R"(execution_step { network: "draw" num_iter: 3 })", 3},
    {"TwoStepsWithOneNet",
     R"(execution_step { network: "draw" num_iter: 2 } execution_step { network: "draw" })", 3},
    {"Instances",
     R"(execution_step { num_concurrent_instances: 4 num_iter: 2 substep { network: "draw" num_iter: 3 } })",
     24},
    {"NestedInstances",
     R"(execution_step { num_concurrent_instances: 2
          substep { num_concurrent_instances: 3 substep { network: "draw" } } })",
     6},
    {"TwoConcurrentSteps",
     R"(execution_step { num_concurrent_instances: 2 substep { network: "draw" } }
        execution_step { num_concurrent_instances: 2 substep { network: "draw" } })",
     4},
    {"BeforeAndAfterInstances",
     R"(execution_step { num_iter: 2 substep { network: "draw" }
          substep { num_concurrent_instances: 3 substep { network: "draw" } } substep { network: "draw" } })",
     10},
    {"WorkspacesOfTheirOwn",
     R"(execution_step { num_iter: 3 num_concurrent_instances: 2
          substep { create_workspace: true network: "draw" num_iter: 2 } })",
     12},
    {"WorkspacesOfTopLevelSteps",
     R"(execution_step { create_workspace: true network: "draw" }
        execution_step { create_workspace: true network: "draw" } execution_step { network: "draw" })",
     3},
    {"ReportNetsAndReporters",
     R"(execution_step { num_concurrent_instances: 2 report_net: "draw" report_interval: 3600
          substep { network: "draw" } substep { run_every_ms: 3600000 network: "draw" num_iter: 2 }
          substep { run_every_ms: 3600000 network: "draw" } })",
     6},
    {"ReportNetsOfTwoSteps",
     R"(execution_step { network: "draw" report_net: "draw" report_interval: 3600 }
        execution_step { substep { network: "draw" report_net: "draw" report_interval: 3600 } })",
     4}};

TEST(PlanRandomNumbersTest, AreTheSameInEveryRunOfAPlanAndDifferWithinIt) {
  for (const Plan& plan : kPlans) {
    SCOPED_TRACE(plan.name);
    const std::vector<uint32_t> want = Draw(plan.steps);
    EXPECT_EQ(want.size(), plan.draws);
    EXPECT_EQ(std::set(want.begin(), want.end()).size(), plan.draws);
    for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(Draw(plan.steps), want);
    EXPECT_NE(Draw(plan.steps, 2), want);
    EXPECT_NE(Draw(plan.steps, std::nullopt), Draw(plan.steps, std::nullopt));
  }
}

// The net of the steps around draws as if it alone had run: instances have nets of their own.
TEST(PlanRandomNumbersTest, InstancesAndChildWorkspacesLeaveTheNumbersOfTheStepsAround) {
  const std::string one = "execution_step { network: 'draw' }";
  const std::vector<uint32_t> want = Draw(one + one);
  ASSERT_EQ(want.size(), 2u);
  for (const char* between :
       {"execution_step { num_concurrent_instances: 2 substep { network: 'draw' } }",
        "execution_step { concurrent_substeps: true substep { network: 'draw' } "
        "substep { network: 'other' } }",
        "execution_step { create_workspace: true network: 'draw' }",
        "execution_step { network: 'other' report_net: 'draw' report_interval: 3600 }"}) {
    const std::vector<uint32_t> got = Draw(one + between + one);
    EXPECT_TRUE(std::includes(got.begin(), got.end(), want.begin(), want.end())) << between;
  }
}

}  // namespace
}  // namespace caffe2rt::plan_random_numbers_test
