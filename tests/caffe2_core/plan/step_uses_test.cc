// What operators of each kind, and steps with reporters and child workspaces, are said to use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/plan/plan_uses.h"
#include "tests/caffe2_core/plan/plan_operators.h"

namespace caffe2rt::test::step_uses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

OPERATOR_SCHEMA(StepUsesModifies).ModifiesInputs({0});
OPERATOR_SCHEMA(StepUsesLocks).SynchronizedInputs({1}).ModifiesInputs({1, 2});
OPERATOR_SCHEMA(StepUsesPlain);
OPERATOR_SCHEMA(StepUsesShaped).IdenticalTypeAndShape();
OPERATOR_SCHEMA(StepUsesAny).AccessesUnlistedBlobs([](const OperatorDef&) { return true; });
OPERATOR_SCHEMA(StepUsesNone).AccessesUnlistedBlobs([](const OperatorDef&) { return false; });
OPERATOR_SCHEMA(StepUsesThrows).AccessesUnlistedBlobs([](const OperatorDef&) -> bool {
  throw std::runtime_error("invalid argument");
});

// An operator without blobs that has the net in an argument.
std::string Around(const std::string& ops, const std::string& outputs = "") {
  return Op("StepUsesPlain", "", outputs, "arg { name: 'net' n { name: 'in' " + ops + "} }");
}

NetUses Uses(const std::string& ops) {
  const PlanNetDefs none;
  const PlanUses registers_schemas(&none);
  return UsesOf(std::make_shared<const NetDef>(ParsePlan(Net("n", ops)).network(0)));
}

TEST(StepUsesTest, OfBlobsFollowTheSchema) {
  const struct {
    std::string ops;
    std::vector<std::pair<std::string, unsigned>> blobs;
  } rows[] = {
      {Op("Relu", "x", "y"), {{"x", kReads}, {"y", kWrites}}},
      {Op("Relu", "x", "x"), {{"x", kReads | kUpdatesTensor}}},
      {Op("StepUsesShaped", "x", "x"), {{"x", kReads | kUpdatesTensor}}},
      {Op("StepUsesPlain", "x", "x"), {{"x", kReads | kUpdates}}},
      {Op("StepUsesUnknown", "x", "x"), {{"x", kReads | kUpdates}}},
      {Op("StepUsesUnknown", "xy", "yz"),
       {{"x", kReads}, {"y", kReads | kUpdates}, {"z", kWrites}}},
      // Inputs that the operator writes
      {Op("StepUsesModifies", "xy", ""), {{"x", kWrites}, {"y", kReads}}},
      {Op("StepUsesLocks", "xyz", ""), {{"x", kReads}, {"y", kWritesSynchronized}, {"z", kWrites}}},
      {Op("PlanTestGuarded", "x", "x"), {{"x", kReadsSynchronized | kWritesSynchronized}}},
      {Op("Relu", "x", "y") + Op("Relu", "y", "x"),
       {{"x", kReads | kWrites}, {"y", kReads | kWrites}}},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Uses(row.ops).blobs, testing::ElementsAreArray(row.blobs)) << row.ops;
  }
}

TEST(StepUsesTest, OfUnlistedBlobsNameTheFirstOperator) {
  const std::string any = Op("StepUsesAny", "", ""), throws = Op("StepUsesThrows", "", "");
  EXPECT_EQ(Uses(Op("StepUsesNone", "", "") + Op("StepUsesUnknown", "", "")).unlisted, "");
  EXPECT_EQ(Uses(any + throws).unlisted, "StepUsesAny");
  EXPECT_EQ(Uses(throws + any).unlisted, "StepUsesThrows");
  EXPECT_EQ(Uses(Around(throws) + any).unlisted, "StepUsesThrows");
}

TEST(StepUsesTest, OfNestedNetsAreNotWrittenByTheNetItself) {
  const NetUses own = Uses(Op("Relu", "x", "z") + Op("Relu", "x", "y") + Op("Relu", "z", "z"));
  EXPECT_THAT(own.written, ElementsAre("z", "y"));
  EXPECT_FALSE(own.nested_writes);
  const NetUses nested = Uses(Around(Op("Relu", "x", "y"), "z"));
  EXPECT_THAT(nested.written, ElementsAre("z"));
  EXPECT_TRUE(nested.nested_writes);
  EXPECT_THAT(nested.blobs, ElementsAre(Pair("x", kReads), Pair("y", kWrites), Pair("z", kWrites)));
  const NetUses reads = Uses(Around(Op("StepUsesModifies", "x", "")));
  EXPECT_THAT(reads.written, IsEmpty());
  EXPECT_FALSE(reads.nested_writes);
  EXPECT_THAT(reads.blobs, ElementsAre(Pair("x", kWrites)));
}

TEST(StepUsesTest, OfAnAliasAreWritesOfBothNames) {
  const NetUses alias = Uses(Op("Alias", "x", "y"));
  EXPECT_THAT(alias.aliases, ElementsAre(Pair("x", "y")));
  EXPECT_THAT(alias.blobs, ElementsAre(Pair("x", kReads | kWrites), Pair("y", kWrites)));
  EXPECT_THAT(Uses(Op("Alias", "x", "x")).aliases, IsEmpty());
}

class PlanStepUsesTest : public testing::Test {
 protected:
  // The uses of the only step of a plan with nets "a" to "d". "c" may create blobs in an argument,
  // "d" any blobs.
  explicit PlanStepUsesTest() {
    const PlanDef nets =
        ParsePlan(Net("a", Op("Relu", "x", "y")) + Net("b", Op("Relu", "y", "z")) +
                  Net("c", Around(Op("Relu", "x", "y"))) + Net("d", Op("StepUsesAny", "", "")));
    for (const NetDef& net : nets.network())
      defs_[net.name()] = std::make_shared<const NetDef>(net);
  }
  const ExecutionStep& Step(const std::string& text) {
    plan_ = ParsePlan("execution_step { " + text + " }");
    uses_ = std::make_unique<PlanUses>(&defs_);
    return plan_.execution_step(0);
  }
  // The nets, then the reads. Those in a child workspace are marked.
  static std::string Text(const StepUses& uses) {
    std::string text;
    for (const StepUses::Net& net : uses.nets) {
      text += net.uses->net->name() + (net.in_child ? "^ " : " ");
    }
    text += "|";
    for (const auto& [blob, in_child] : uses.reads) text += " " + blob + (in_child ? "^" : "");
    return text;
  }
  std::string OfSubstep(const std::string& text) {
    const ExecutionStep& step = Step(text);
    const StepUses& first = uses_->OfSubstep(step);
    EXPECT_EQ(&uses_->OfSubstep(step), &first);  // computed once
    return Text(first);
  }
  std::string OfReporters(const std::string& text) {
    const ExecutionStep& step = Step(text);
    uses_->OfSubstep(step);  // kept apart
    return Text(uses_->OfReporters(step));
  }
  // The creator's name.
  std::string Creator(const std::string& text) {
    const ExecutionStep& step = Step(text);
    EXPECT_EQ(uses_->creator(), nullptr);
    uses_->FindCreators(step);
    return uses_->creator() == nullptr ? "" : uses_->creator()->net->name();
  }

  PlanNetDefs defs_;
  PlanDef plan_;
  std::unique_ptr<PlanUses> uses_;
};

TEST_F(PlanStepUsesTest, ASubstepUsesAllBelowIt) {
  const struct {
    const char* step;
    const char* uses;
  } rows[] = {
      {"", "|"},
      {"network: 'a' network: 'a' network: 'none' network: 'b'", "a b |"},
      {"network: 'b' report_net: 'a' should_stop_blob: 's'", "b a | s"},
      {"create_workspace: true network: 'a' should_stop_blob: 's'", "a^ | NODE_ID^ s^"},
      {"network: 'a' should_stop_blob: 's' substep { create_workspace: true network: 'a' "
       "should_stop_blob: 's' } substep { network: 'a' should_stop_blob: 's' }",
       "a a^ | s NODE_ID^ s^"},
      // What is below a child workspace is in it, but not what follows.
      {"substep { create_workspace: true substep { network: 'a' } } substep { network: 'b' }",
       "a^ b | NODE_ID^"},
      {"substep { create_workspace: true } substep { create_workspace: true }", "| NODE_ID^"},
      {"substep { run_every_ms: 5 network: 'b' }", "b |"},
  };
  for (const auto& row : rows) EXPECT_EQ(OfSubstep(row.step), row.uses) << row.step;
}

TEST_F(PlanStepUsesTest, ReportersAreTheReportNetAndTheTimedSubsteps) {
  const struct {
    const char* step;
    const char* uses;
  } rows[] = {
      {"network: 'a' should_stop_blob: 's'", "|"},
      {"network: 'a' report_net: 'b'", "b |"},
      {"network: 'a' report_net: 'none'", "|"},
      {"substep { network: 'a' } substep { network: 'b' run_every_ms: 5 should_stop_blob: 's' }",
       "b | s"},
      {"substep { create_workspace: true run_every_ms: 5 network: 'b' }", "b^ | NODE_ID^"},
      {"substep { substep { network: 'b' run_every_ms: 5 } }", "|"},
      {"report_net: 'c' substep { network: 'a' run_every_ms: 5 report_net: 'b' }", "c a b |"},
  };
  for (const auto& row : rows) EXPECT_EQ(OfReporters(row.step), row.uses) << row.step;
}

TEST_F(PlanStepUsesTest, CreatorsAreReportersAtAnyDepthThatWriteWhatTheyDoNotList) {
  const struct {
    const char* step;
    const char* creator;
  } rows[] = {
      {"network: 'c' network: 'd' report_net: 'a'", ""},
      {"report_net: 'c'", "c"},
      {"report_net: 'd'", "d"},
      {"substep { network: 'd' }", ""},
      {"substep { network: 'd' run_every_ms: 5 }", "d"},
      {"substep { substep { report_net: 'c' } }", "c"},
      {"substep { report_net: 'c' } substep { report_net: 'a' }", "c"},
  };
  for (const auto& row : rows) EXPECT_EQ(Creator(row.step), row.creator) << row.step;
}

}  // namespace
}  // namespace caffe2rt::test::step_uses_test
