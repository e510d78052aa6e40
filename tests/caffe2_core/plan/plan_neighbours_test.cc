// Plans at their limits: more uses than are checked, nets nested as deep as is allowed, which steps
// run at the same time, and what plans log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/plan/plan_limits.h"
#include "caffe2_core/plan/plan_races.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::plan_neighbours_test {
namespace {

struct ConcurrencyRow {
  std::string step;
  bool want;
};

// Reporters do not count, and one substep needs instances.
TEST(PlanNeighboursTest, StepsRunTheirSubstepsOrTheirInstancesAtTheSameTime) {
  const std::string one = "substep { } ", report = "substep { run_every_ms: 5 } ";
  const ConcurrencyRow rows[] = {
      {"", false},
      {"concurrent_substeps: true", false},
      {"num_concurrent_instances: 3", false},
      {"num_concurrent_instances: 3 network: 'n'", false},
      {"num_concurrent_instances: 3 " + report, false},
      {"concurrent_substeps: true " + report + report, false},
      {one, false},
      {one + one, false},
      {"concurrent_substeps: true " + one, false},
      {"concurrent_substeps: true " + one + report, false},
      {"concurrent_substeps: true " + one + one, true},
      {"concurrent_substeps: true " + one + report + one, true},
      {"concurrent_substeps: false " + one + one, false},
      {"num_concurrent_instances: 1 " + one + one, false},
      {"num_concurrent_instances: 2 " + one, true},
      {"num_concurrent_instances: 2 " + one + report, true},
      {"num_concurrent_instances: 2 concurrent_substeps: true " + one, true},
      {"num_concurrent_instances: -2 " + one, false}};
  for (const ConcurrencyRow& row : rows) {
    const PlanDef plan = ParsePlan("execution_step { " + row.step + " }");
    EXPECT_EQ(RunsConcurrently(plan.execution_step(0)), row.want) << row.step;
  }
}

TEST(PlanNeighboursTest, EachStepHasAtLeastOneInstance) {
  for (const auto& [text, want] : std::vector<std::pair<std::string, int>>{
           {"", 1}, {"0", 1}, {"-3", 1}, {"1", 1}, {"2", 2}, {"1000", 1000}}) {
    const PlanDef plan = ParsePlan(
        "execution_step { " + (text.empty() ? "" : "num_concurrent_instances: " + text) + " }");
    EXPECT_EQ(InstancesOf(plan.execution_step(0)), want) << text;
  }
}

// A net that reads x and writes y has two uses in each place.
TEST(PlanNeighboursTest, MoreUsesThanAreCheckedAreAnError) {
  const PlanDef plan = ParsePlan(Net("n", Op("Copy", "x", "y")) + Net("w", Op("Copy", "p", "q")) +
                                 R"(execution_step { name: "s" concurrent_substeps: true
                                    substep { network: "w" } substep { } })");
  PlanNetDefs defs;
  for (const NetDef& net : plan.network())
    defs.emplace(net.name(), std::make_shared<const NetDef>(net));
  PlanUses uses(&defs);
  StepUses around;
  around.nets.push_back({.uses = uses.OfNet("n")});
  const ResolveBlob resolve = [](const std::string&, bool) { return SharedBlob(); };
  const auto find = [&](size_t reporters, size_t* work) {
    return FindRace(plan.execution_step(0), &uses,
                    {.all = std::vector<const StepUses*>(reporters, &around)}, resolve, work);
  };
  size_t work = 100;
  EXPECT_EQ(find(3, &work), "");
  EXPECT_EQ(work, 100u + 3 * 2 + 2);
  work = 0;
  EXPECT_EQ(find(1 << 20, &work),
            "step \"s\" has 2097154 uses of blobs in its concurrent substeps and the reporters "
            "around, want at most 2097152 to look for conflicts: run fewer operators at once, or "
            "allow races with --allow-races (PlanOptions::allow_races)");
  EXPECT_EQ(work, 2097154u);
}

// An operator with nets nested `depth` deep. The innermost operator is a Copy.
NetUses UsesOfNested(int depth) {
  OperatorDef op = ParseOp(R"(type: "Copy" input: "x" output: "y")");
  for (int i = 0; i < depth; ++i) {
    OperatorDef outer = ParseOp(R"(type: "If" input: "c")");
    NetDef net;
    *net.add_op() = std::move(op);
    AddArgument("then_net", net, &outer);
    op = std::move(outer);
  }
  const auto net = std::make_shared<NetDef>();
  net->set_name("n");
  *net->add_op() = std::move(op);
  const PlanNetDefs none;
  const PlanUses registers_schemas(&none);
  return UsesOf(net);
}

// What is nested deeper may use any blob.
TEST(PlanNeighboursTest, NetsThatAreNestedTooDeepMayUseAnyBlob) {
  for (const int depth : {1, 2, kMaxNetDepth - 1}) {
    const NetUses uses = UsesOfNested(depth);
    EXPECT_EQ(uses.unlisted, "") << depth;
    EXPECT_EQ(uses.blobs.count("x") + uses.blobs.count("y"), 2u) << depth;
    EXPECT_TRUE(uses.nested_writes) << depth;
    EXPECT_THAT(uses.written, testing::IsEmpty()) << depth;
  }
  EXPECT_EQ(UsesOfNested(kMaxNetDepth).unlisted, "Copy");
  const NetUses deeper = UsesOfNested(kMaxNetDepth + 3);
  EXPECT_EQ(deeper.unlisted, "If");
  EXPECT_FALSE(deeper.blobs.contains("y"));
  const NetUses none = UsesOfNested(0);
  EXPECT_EQ(none.unlisted, "");
  EXPECT_FALSE(none.nested_writes);
  EXPECT_THAT(none.written, testing::ElementsAre("y"));
}

// A user's net whose run fails.
class PlanNeighboursFalseNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return false; }
};
REGISTER_NET(plan_neighbours_false, PlanNeighboursFalseNet);

// What is logged while the plan runs, from warnings on, each text with its severity in front.
std::vector<std::string> LogsOf(const std::string& plan, bool want) {
  std::mutex mutex;
  std::vector<std::string> texts;
  const int threshold = LogThreshold();
  SetLogThreshold(1);
  SetLogSink([&](const LogEntry& entry) {
    const std::lock_guard<std::mutex> lock(mutex);
    texts.push_back(MakeString(entry.severity, " ", std::string(entry.text)));
  });
  Workspace ws;
  EXPECT_EQ(RunPlanText(&ws, plan), want) << plan;
  SetLogSink(nullptr);
  SetLogThreshold(threshold);
  return texts;
}

TEST(PlanLogsTest, NameTheStepOrTheNetThatFails) {
  using testing::ElementsAre;
  using testing::HasSubstr;
  const std::string nets = R"(name: "p" network { name: "fail" type: "plan_neighbours_false" }
      network { name: "count" op { type: "PlanTestCount" } }
      network { name: "throw" op { type: "Copy" input: "none" output: "y" } } )";
  EXPECT_THAT(LogsOf("name: 'empty'", true), ElementsAre("1 plan \"empty\" has no execution step"));
  EXPECT_THAT(LogsOf(nets + "execution_step { name: 'a' network: 'count' } execution_step { name: "
                            "'b' substep { name: 'c' network: 'fail' } }",
                     false),
              ElementsAre("2 step \"b\" of plan \"p\" failed"));
  const std::string step = "execution_step { name: 'a' num_iter: 2 ";
  EXPECT_THAT(
      LogsOf(nets + step + "network: 'count' report_net: 'fail' report_interval: 999 }", true),
      ElementsAre("1 report net \"fail\" failed"));
  EXPECT_THAT(LogsOf(nets + step +
                         "substep { network: 'count' } substep { run_every_ms: 99999 "
                         "network: 'throw' } }",
                     true),
              ElementsAre(testing::AllOf(testing::StartsWith("1 a reporter failed: "),
                                         HasSubstr("non-existing input blob: none"))));
  EXPECT_THAT(
      LogsOf(nets + step + "network: 'count' report_net: 'count' report_interval: 999 }", true),
      testing::IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::plan_neighbours_test
