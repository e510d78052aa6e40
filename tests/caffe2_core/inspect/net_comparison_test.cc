#include "caffe2_core/inspect/net_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_comparison_test {
namespace {

using Presence = ComparedValue::Presence;

NetDef Net(const std::string& ops) { return NetToWatch(ParseNet("name: \"n\" " + ops)); }

// Compares two nets with the input x.
std::vector<ComparedValue> Compare(const std::string& first, const std::string& second,
                                   const std::vector<float>& x) {
  Workspace a, b;
  for (Workspace* ws : {&a, &b}) {
    Feed<float>(ws, "x", {static_cast<int64_t>(x.size())}, x);
    Feed<float>(ws, "w", {1}, {ws == &a ? 1.f : 3.f});
  }
  return CompareNets({Net(first), &a}, {Net(second), &b}, {});
}

TEST(NetComparisonTest, FindsTheOperatorAtWhichTwoNetsPart) {
  const auto found = Compare(R"(op { type: "Abs" input: "x" output: "y" }
                                op { type: "Exp" input: "y" output: "z" })",
                             R"(op { type: "Abs" input: "x" output: "y" }
                                op { type: "Sqr" input: "y" output: "z" })",
                             {0, -2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "y");
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[0].type, "float [2]");
  EXPECT_EQ(found[1].name, "z");
  EXPECT_EQ(found[1].first, 1);
  EXPECT_EQ(found[1].second, 1);
  EXPECT_EQ(found[1].difference.beyond, 2);
  EXPECT_NEAR(found[1].difference.max_absolute, 3.389056, 1e-5);  // e^2 - 4
}

TEST(NetComparisonTest, ComparesEachStepOfABlobThatIsOverwritten) {
  const auto found = Compare(R"(op { type: "Negative" input: "x" output: "y" }
                                op { type: "Relu" input: "y" output: "y" })",
                             R"(op { type: "Copy" input: "x" output: "y" }
                                op { type: "Relu" input: "y" output: "y" })",
                             {0});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "y after operator 0");
  EXPECT_EQ(found[1].name, "y after operator 1");
  EXPECT_TRUE(found[0].within() && found[1].within());
}

TEST(NetComparisonTest, MatchesTheLastValueOfANetWithFewerSteps) {
  const auto found = Compare(R"(op { type: "Copy" input: "x" output: "y" }
                                op { type: "Relu" input: "y" output: "y" })",
                             R"(op { type: "Relu" input: "x" output: "y" })", {-1, 1});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].presence, Presence::kFirstOnly);
  EXPECT_TRUE(found[1].within());
  EXPECT_EQ(found[1].first, 1);
  EXPECT_EQ(found[1].second, 0);
}

TEST(NetComparisonTest, MatchesTheNamesThatGraphPassesWrite) {
  const auto found = Compare(R"(op { type: "Abs" input: "x" output: "y" })",
                             R"(op { type: "Abs" input: "x" output: "y_ideep" })", {-1, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "y");
  EXPECT_TRUE(found[0].within());
}

// y_ideep is another blob where the net also writes y.
TEST(NetComparisonTest, KeepsNamesApartThatOneNetHas) {
  const auto found = Compare(R"(op { type: "Abs" input: "x" output: "y" })",
                             R"(op { type: "Abs" input: "x" output: "y" }
                                op { type: "Negative" input: "x" output: "y_ideep" })",
                             {-1, 2});
  ASSERT_GE(found.size(), 1u);
  EXPECT_EQ(found[0].name, "y");
  EXPECT_EQ(found[0].second, 0);
  EXPECT_TRUE(found[0].within());
}

TEST(NetComparisonTest, ListsWeightsOnlyIfTheyDiffer) {
  const auto found = Compare(R"(op { type: "Add" input: "x" input: "w" output: "y" })",
                             R"(op { type: "Add" input: "x" input: "w" output: "y" })", {1});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "w");
  EXPECT_EQ(found[0].first, -1);
  EXPECT_EQ(found[0].difference.max_absolute, 2);
}

// A difference within the tolerance is one, at whichever element it stands.
TEST(NetComparisonTest, ListsWeightsThatDifferALittle) {
  const NetDef net = Net(R"(op { type: "Add" input: "x" input: "w" output: "y" })");
  for (const size_t changed : {0u, 1u, 2u}) {
    Workspace a, b;
    for (Workspace* ws : {&a, &b}) {
      std::vector<float> w = {1, 1};
      if (ws == &b && changed < 2) w[changed] += 1e-5f;
      Feed<float>(ws, "x", {2}, {1, 2});
      Feed<float>(ws, "w", {2}, w);
    }
    const auto found = CompareNets({net, &a}, {net, &b}, {});
    ASSERT_EQ(found.size(), changed < 2 ? 2u : 1u) << changed;
    EXPECT_EQ(found[0].name, changed < 2 ? "w" : "y");
    EXPECT_TRUE(found[0].within());
    EXPECT_EQ(found[0].difference.worst, changed < 2 ? static_cast<int64_t>(changed) : -1);
  }
}

TEST(NetComparisonTest, ListsValuesOfTheSecondNetAlone) {
  const auto found = Compare(R"(op { type: "Abs" input: "x" output: "y" })",
                             R"(op { type: "Abs" input: "x" output: "z" })", {1});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].presence, Presence::kFirstOnly);
  EXPECT_EQ(found[1].presence, Presence::kSecondOnly);
  EXPECT_EQ(found[1].name, "z");
  EXPECT_FALSE(found[1].within());
  EXPECT_TRUE(found[1].last);
}

TEST(NetComparisonTest, TheLastValueOfABlobIsTheOneThatStays) {
  const std::string written = R"(op { type: "Abs" input: "x" output: "z" }
                                 op { type: "Negative" input: "z" output: "z" })";
  const auto lasts = [](const std::vector<ComparedValue>& found, Presence presence) {
    std::vector<bool> result;
    for (const ComparedValue& value : found) {
      if (value.presence == presence) result.push_back(value.last);
    }
    return result;
  };
  const std::string other = R"(op { type: "Abs" input: "x" output: "y" })";
  EXPECT_THAT(lasts(Compare(other, written, {1}), Presence::kSecondOnly),
              ::testing::ElementsAre(false, true));
  EXPECT_THAT(lasts(Compare(written, other, {1}), Presence::kFirstOnly),
              ::testing::ElementsAre(false, true));
}

TEST(NetComparisonTest, LeavesOutValuesThatAFusedOperatorPutsIntoAnOperand) {
  const NetDef written = ParseNet(R"(name: "n" op { type: "Abs" input: "x" output: "y" }
                                     op { type: "Sqr" input: "x" output: "t" }
                                     op { type: "Add" input: "t" input: "y" output: "sum" })");
  NetDef optimized = written;
  MarkUserOperators(&optimized);
  AddUserOperators(optimized.op(1), optimized.mutable_op(2));
  EXPECT_TRUE(ValuesOfPasses(written, optimized).empty());
  optimized.mutable_op(2)->set_output(0, "sum_ideep");
  EXPECT_TRUE(ValuesOfPasses(written, optimized).empty());
  optimized.mutable_op(2)->set_output(0, "y");
  EXPECT_EQ(ValuesOfPasses(written, optimized), std::set<NetValue>({{2, "y"}}));

  Workspace a, b;
  for (Workspace* ws : {&a, &b}) Feed<float>(ws, "x", {1}, {-2});
  const NetDef first = NetToWatch(written), second = NetToWatch(optimized);
  const auto found = CompareNets({first, &a}, {second, &b, {{2, "y"}}}, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "y");
  EXPECT_TRUE(found[0].within());  // although the second net has y = 6 at its end
  EXPECT_EQ(found[2].presence, Presence::kFirstOnly);
}

// The passes fused the last two of three operators that work in place.
TEST(NetComparisonTest, MatchesTheValuesOfAnOptimizedNetByTheOperatorsItStandsFor) {
  const NetDef written = ParseNet(R"(name: "n" op { type: "Copy" input: "x" output: "y" }
                                     op { type: "Sqr" input: "y" output: "y" }
                                     op { type: "Relu" input: "y" output: "y" })");
  NetDef optimized = written;
  MarkUserOperators(&optimized);
  AddUserOperators(optimized.op(2), optimized.mutable_op(1));
  optimized.mutable_op()->RemoveLast();
  RemoveNeedlessMarks(&optimized);
  const auto counts = CountsFromLast(written, optimized);
  EXPECT_EQ(counts, (std::map<NetValue, int>{{{-1, "x"}, 0}, {{0, "y"}, 2}, {{1, "y"}, 0}}));

  Workspace a, b;
  for (Workspace* ws : {&a, &b}) Feed<float>(ws, "x", {1}, {-2});
  const NetDef first = NetToWatch(written), second = NetToWatch(optimized);
  const auto found = CompareNets({first, &a}, {second, &b, {}, counts}, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].within() && !found[0].last);
  EXPECT_EQ(found[0].second, 0);
  EXPECT_EQ(found[1].presence, Presence::kFirstOnly);
  EXPECT_FALSE(found[1].last);
  EXPECT_TRUE(found[2].within() && found[2].last);
  EXPECT_EQ(found[2].second, 1);
}

TEST(NetComparisonTest, ComparesANetWithExpectedTensors) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 4});
  Workspace values;
  const NamedTensors expected = {
      {"y after operator 0", *Feed<float>(&values, "a", {2}, {1, 4})},
      {"y", *Feed<float>(&values, "b", {2}, {1, 3})},
      {"other", *Feed<float>(&values, "c", {1}, {0})},
  };
  const NetDef net = Net(R"(op { type: "Abs" input: "x" output: "y" }
                            op { type: "Sqrt" input: "y" output: "y" })");
  const auto found = CompareWithTensors({net, &ws}, expected, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[1].name, "y after operator 1");
  EXPECT_EQ(found[1].difference.max_absolute, 1);
  EXPECT_EQ(found[2].name, "other");
  EXPECT_EQ(found[2].presence, Presence::kSecondOnly);
}

// The counts of the written net, at the operators and names of the optimized one.
TEST(NetComparisonTest, CountsValuesOfBlobsInLayoutsOfTheLibrary) {
  using Counts = std::map<NetValue, int>;
  const NetDef written = ParseNet(R"(op { type: "Relu" input: "x" output: "y" }
      op { type: "Sqr" input: "y" output: "y" } op { type: "Copy" input: "y" output: "z" })");
  EXPECT_EQ(CountsFromLast(written, ParseNet(R"(op { type: "Relu" input: "x" output: "y_ideep" }
      op { type: "Sqr" input: "y_ideep" output: "y" } op { type: "Copy" input: "y" output: "z" })")),
            (Counts{{{-1, "x"}, 0}, {{0, "y_ideep"}, 1}, {{1, "y"}, 0}, {{2, "z"}, 0}}));
  // Blobs that the user has named so.
  const NetDef named = ParseNet(R"(op { type: "Relu" input: "x" output: "a_ideep" }
      op { type: "Abs" input: "a_ideep" output: "a_ideep" }
      op { type: "Relu" input: "x" output: "a" } op { type: "Sqr" input: "a" output: "a" }
      op { type: "Exp" input: "a" output: "a" })");
  EXPECT_EQ(CountsFromLast(named, named), (Counts{{{-1, "x"}, 0},
                                                  {{0, "a_ideep"}, 1},
                                                  {{1, "a_ideep"}, 0},
                                                  {{2, "a"}, 2},
                                                  {{3, "a"}, 1},
                                                  {{4, "a"}, 0}}));
}

TEST(NetComparisonTest, ComparesListsByName) {
  Workspace values;
  const Tensor one = *Feed<float>(&values, "a", {1}, {1});
  const Tensor two = *Feed<float>(&values, "b", {1}, {2});
  const auto found =
      CompareTensorLists({{"a", one}, {"b", one}}, {{"c", one}, {"b", two}, {"a", one}}, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[1].difference.max_absolute, 1);
  EXPECT_FALSE(found[1].within());
  EXPECT_EQ(found[2].name, "c");
  EXPECT_TRUE(CompareTensorLists({{"b", one}}, {{"b", two}}, {.absolute = 1})[0].within());
}

}  // namespace
}  // namespace caffe2rt::test::net_comparison_test
