#pragma once
// Operators and blob types for tests of plans, registered as a user's module registers them.
//
//   PlanTestCount      any number of blobs: counts runs and operator objects; accesses no blob
//   PlanTestTally      in place on a blob that holds a Tally: adds 1
//   PlanTestPlainTally the same on a PlainTally, a type that is not declared synchronized
//   PlanTestGuarded    schema: input 0 and output 0 are synchronized; accesses no blob
//   PlanTestReadKey    reads a record of the DBReader in input 0, which is also output 0
//   PlanTestRaise      sends SIGINT to the process

#include <atomic>
#include <string>

#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct Tally {
  std::atomic<int> count{0};
};
struct PlainTally {
  std::atomic<int> count{0};
};

// The number of runs of PlanTestCount, and of the operator objects that ran, since the last reset.
void ResetPlanCounts();
int PlanRuns();
int PlanOperators();
// The number of these objects that two threads ran at the same time.
int PlanOverlaps();

// Nets for the plans of tests. `init` sets n = 0, one = 1, limit = 3. `step` does n += 1 and stop =
// (n >= limit). `inner` does n += 1. `count` counts its runs.
inline constexpr char kCountingNets[] = R"(
  network { name: "init"
    op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 1 } arg { name: "value" f: 0 } }
    op { type: "ConstantFill" output: "one" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
    op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 } arg { name: "value" f: 3 } } }
  network { name: "step"
    op { type: "Add" input: "n" input: "one" output: "n" }
    op { type: "GE" input: "n" input: "limit" output: "stop" } }
  network { name: "inner"
    op { type: "Add" input: "n" input: "one" output: "n" } }
  network { name: "count" op { type: "PlanTestCount" } }
)";
inline constexpr char kInitStep[] = R"(execution_step { network: "init" })";

// The text of a net, and of an operator whose blobs have one-letter names.
std::string Net(const std::string& name, const std::string& ops);
std::string Op(const std::string& type, const std::string& inputs, const std::string& outputs,
               const std::string& rest = "");
// Steps "a" and "b", which run the nets "a" and "b" at the same time.
inline constexpr char kTogether[] = R"(execution_step { name: "both" concurrent_substeps: true
  substep { name: "a" network: "a" } substep { name: "b" network: "b" } })";

// Parses a plan from a text proto. THROWS on a parse error.
PlanDef ParsePlan(const std::string& text);
bool RunPlanText(Workspace* ws, const std::string& text, const PlanOptions& options = {});

}  // namespace caffe2rt::test
