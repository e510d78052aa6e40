#include "caffe2_core/plan/plan_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::plan_uses_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PlanUsesTest : public testing::Test {
 protected:
  // The uses of a net by its operators.
  NetUses Uses(const std::string& ops) {
    NetDef def = ParseNet("name: \"n\" " + ops);
    plan_["n"] = std::make_shared<const NetDef>(std::move(def));
    return UsesOf(plan_["n"]);
  }

  PlanNetDefs plan_;
  const PlanUses registers_schemas_{&plan_};
};

constexpr char kCount[] =
    R"(op { type: "AtomicIter" input: "mutex" input: "iter" output: "iter" } )";

std::string If(const std::string& net) {
  return R"(op { type: "If" input: "c" arg { name: "then_net" n { name: "then" )" + net + "} } } ";
}
// The net of Do knows m as mutex and i as iter. What else it names is held by the scope S.
std::string Do(const std::string& net, const std::string& scope = "S") {
  return MakeString(R"(op { type: "Do" input: "m" input: "i" input: ")", scope, R"(" output: ")",
                    scope, R"(" arg { name: "inner_blobs" strings: "mutex" strings: "iter" }
                    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
                    arg { name: "net" n { name: "inner" )",
                    net, "} } } ");
}

TEST_F(PlanUsesTest, GuardsHaveTheirNamesInThePlan) {
  const auto of_plan = ElementsAre(Pair("i", ElementsAre("m")));
  EXPECT_THAT(Uses(kCount).guards, ElementsAre(Pair("iter", ElementsAre("mutex"))));
  EXPECT_THAT(Uses(If(kCount)).guards, ElementsAre(Pair("iter", ElementsAre("mutex"))));
  EXPECT_THAT(Uses(Do(kCount)).guards, of_plan);
  EXPECT_THAT(Uses(Do(If(kCount))).guards, of_plan);
  EXPECT_THAT(Uses(If(Do(kCount))).guards, of_plan);
}

// The guard of one blob in two nets, under the same name and under different ones.
TEST_F(PlanUsesTest, GuardsOfABlobAreCollected) {
  const std::string count = R"(op { type: "AtomicIter" input: "m" input: "i" output: "i" } )";
  const std::string other = R"(op { type: "AtomicIter" input: "o" input: "i" output: "i" } )";
  EXPECT_THAT(Uses(count + Do(kCount)).guards, ElementsAre(Pair("i", ElementsAre("m"))));
  EXPECT_THAT(Uses(other + Do(kCount)).guards, ElementsAre(Pair("i", ElementsAre("m", "o"))));
}

// The schema of a user: inputs 0 and 1 guard output 0, which is input 2.
TEST_F(PlanUsesTest, OneOperatorMayHaveSeveralGuards) {
  static const bool once = [] {
    RegisterSchema("PlanUsesTwoGuards", __FILE__)
        .NumInputs(3)
        .NumOutputs(1)
        .AllowInplace({{2, 0}})
        .SynchronizedInputs({0, 1, 2})
        .SynchronizedOutputs({0});
    return true;
  }();
  ASSERT_TRUE(once);
  const auto two = [](const std::string& a, const std::string& b) {
    return MakeString("op { type: 'PlanUsesTwoGuards' input: '", a, "' input: '", b,
                      "' input: 'i' output: 'i' } ");
  };
  EXPECT_THAT(Uses(two("m", "o")).guards, ElementsAre(Pair("i", ElementsAre("m", "o"))));
  EXPECT_THAT(Uses(two("o", "m")).guards, ElementsAre(Pair("i", ElementsAre("m", "o"))));
  EXPECT_THAT(Uses(two("m", "m")).guards, ElementsAre(Pair("i", ElementsAre("m"))));
  EXPECT_THAT(Uses(two("m", "o") + two("o", "p")).guards,
              ElementsAre(Pair("i", ElementsAre("m", "o", "p"))));
}

TEST_F(PlanUsesTest, WhatAScopeHoldsHasNoGuards) {
  EXPECT_THAT(
      Uses(Do(R"(op { type: "AtomicIter" input: "mutex" input: "own" output: "own" } )")).guards,
      IsEmpty());
}

// A net as text, as in step_net of models from Python, counts as one that is a message.
TEST_F(PlanUsesTest, NetsInArgumentsOfEveryKindAreUsed) {
  const std::string ops =
      "op { type: 'Relu' input: 'x' output: 'y' } op { type: 'If' input: 'c' arg "
      "{ name: 'then_net' n { op { type: 'Relu' input: 'u' output: 'v' } } } }";
  for (const std::string& argument :
       {"name: 'step_net' n { name: 'step' " + ops + " }",
        "name: 'nets' nets { } nets { " + ops + " }",
        "name: 'step_net' s: \"name: 'step' " + ops + "\"",
        "name: 'backward_step_net' s: \"name: 'step' " + ops + "\""}) {
    SCOPED_TRACE(argument);
    const NetUses uses =
        Uses("op { type: 'PlanUsesTestAny' input: 'in' output: 'out' arg { " + argument + " } }");
    EXPECT_THAT(uses.blobs, ElementsAre(Pair("c", kReads), Pair("in", kReads), Pair("out", kWrites),
                                        Pair("u", kReads), Pair("v", kWrites), Pair("x", kReads),
                                        Pair("y", kWrites)));
    EXPECT_THAT(uses.written, ElementsAre("out"));
    EXPECT_TRUE(uses.nested_writes);
    EXPECT_EQ(uses.unlisted, "");
  }
}

TEST_F(PlanUsesTest, NamesOfNestedNetsAreTranslated) {
  constexpr unsigned kCounts = kReadsSynchronized | kWritesSynchronized;
  EXPECT_THAT(Uses(kCount).blobs,
              ElementsAre(Pair("iter", kCounts), Pair("mutex", kReadsSynchronized)));
  EXPECT_THAT(Uses(Do(kCount)).blobs,
              ElementsAre(Pair("S", kReads | kUpdatesTensor), Pair("i", kReads | kCounts),
                          Pair("m", kReads | kReadsSynchronized)));
  const NetUses alias = Uses(Do(R"(op { type: "Alias" input: "iter" output: "own" } )"));
  EXPECT_THAT(alias.aliases, ElementsAre(Pair("i", "S")));
  EXPECT_THAT(alias.written, ElementsAre("S"));
  EXPECT_TRUE(alias.nested_writes);
}

}  // namespace
}  // namespace caffe2rt::test::plan_uses_test
