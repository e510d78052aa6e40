#pragma once
// Operators and blob types for tests of plans, registered as a user's module registers them.
//
//   PlanTestCount      no blobs, or any: counts runs and operator objects; touches no blob
//   PlanTestTally      in place on a blob that holds a Tally: adds 1
//   PlanTestPlainTally the same on a PlainTally, a type that nobody declared synchronized
//   PlanTestGuarded    schema: input 0 and output 0 are synchronized; touches no blob
//   PlanTestReadKey    reads a record of the DBReader in input 0, which is output 0, too
//   PlanTestRaise      sends SIGINT to the process

#include <atomic>
#include <string>

#include "caffe2_core/runtime/plan_executor.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct Tally {
  std::atomic<int> count{0};
};
struct PlainTally {
  std::atomic<int> count{0};
};

// Runs of PlanTestCount and the objects that ran since the last reset.
void ResetPlanCounts();
int PlanRuns();
int PlanOperators();
// How many of them were run by two threads at once.
int PlanOverlaps();

// Nets for plans of tests: `init` sets n = 0, one = 1, limit = 3; `step` does n += 1, stop = (n >=
// limit); `inner` does n += 1; `count` counts its runs.
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

// Text of a net, and of an operator whose blobs have names of one letter.
std::string Net(const std::string& name, const std::string& ops);
std::string Op(const std::string& type, const std::string& inputs, const std::string& outputs,
               const std::string& rest = "");
// Steps "a" and "b", which run nets "a" and "b" at the same time.
inline constexpr char kTogether[] = R"(execution_step { name: "both" concurrent_substeps: true
  substep { name: "a" network: "a" } substep { name: "b" network: "b" } })";

// The plan of a text proto. THROWS when it does not parse.
PlanDef ParsePlan(const std::string& text);
bool RunPlanText(Workspace* ws, const std::string& text, const PlanOptions& options = {});

}  // namespace caffe2rt::test
