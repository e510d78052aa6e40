#include "caffe2_core/inspect/nan_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::nan_search_test {
namespace {

using ::testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::optional<NaNOrigin> Search(Workspace* ws, const std::string& net, const std::string& output,
                                int64_t runs = 1) {
  return FindNaNOrigin(ParseNet("name: \"n\" " + net), output, runs, ws);
}

TEST(NaNSearchTest, FindsTheOperatorWhoseInputsHadNoNaN) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  const auto origin = Search(&ws, R"(
      op { type: "Copy" input: "x" output: "y" }
      op { type: "Log" input: "y" output: "z" name: "log" }
      op { type: "Relu" input: "z" output: "z" }
      op { type: "Exp" input: "z" output: "out" })",
                             "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->blob, "z");
  EXPECT_EQ(origin->position, 1);
  EXPECT_EQ(origin->Text(), "blob \"z\", written by operator 1 (Log \"log\")");
}

TEST(NaNSearchTest, IgnoresNaNsThatDoNotReachTheOutput) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {-1});
  const auto origin = Search(&ws, R"(
      op { type: "Log" input: "x" output: "unused" }
      op { type: "Sqrt" input: "x" output: "out" })",
                             "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->position, 1);
}

TEST(NaNSearchTest, FindsTheStepOfABlobThatIsOverwritten) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {-1});
  const auto origin = Search(&ws, R"(
      op { type: "Log" input: "x" output: "t" }
      op { type: "Abs" input: "x" output: "t" }
      op { type: "Negative" input: "t" output: "t" }
      op { type: "Sqrt" input: "t" output: "t" }
      op { type: "Relu" input: "t" output: "t" })",
                             "t");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->position, 3);
}

TEST(NaNSearchTest, NamesABlobThatHadTheNaNBefore) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "w", {1}, {kNaN});
  const auto origin =
      Search(&ws, R"(op { type: "Add" input: "x" input: "w" output: "out" })", "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->position, -1);
  EXPECT_EQ(origin->Text(), "blob \"w\", before the net runs");
}

TEST(NaNSearchTest, NamesTheFirstOfSeveralOrigins) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {-1});
  Feed<float>(&ws, "v", {1}, {kNaN});
  Feed<float>(&ws, "w", {1}, {kNaN});
  const std::string makers = R"(
      op { type: "Log" input: "x" output: "b" }
      op { type: "Sqrt" input: "x" output: "a" } )";
  for (const char* const inputs : {R"(input: "a" input: "b")", R"(input: "b" input: "a")"}) {
    const auto origin =
        Search(&ws, makers + "op { type: \"Add\" output: \"out\" " + inputs + " }", "out");
    ws.DeleteNet("n");
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->position, 0);
    EXPECT_EQ(origin->blob, "b");
  }
  // What was NaN before the net comes before its operators, in the order of the names.
  for (const char* const inputs :
       {R"(input: "a" input: "w" input: "v")", R"(input: "v" input: "w" input: "a")"}) {
    const auto origin =
        Search(&ws, makers + "op { type: \"Sum\" output: \"out\" " + inputs + " }", "out");
    ws.DeleteNet("n");
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->position, -1);
    EXPECT_EQ(origin->blob, "v");
  }
}

TEST(NaNSearchTest, NamesInfiniteInputs) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1e30f});
  const auto origin = Search(&ws, R"(
      op { type: "Mul" input: "x" input: "x" output: "big" }
      op { type: "Sub" input: "big" input: "big" output: "out" })",
                             "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_THAT(origin->infinite_inputs, ElementsAre("big", "big"));
  EXPECT_EQ(origin->position, 1);
  EXPECT_EQ(origin->Text(),
            "blob \"out\", written by operator 1 (Sub) from infinities in \"big\", \"big\"");
  const NaNOrigin many = {
      .blob = "b", .position = 0, .op = "Sum", .infinite_inputs = {"p", "q", "r", "s"}};
  EXPECT_EQ(many.Text(),
            "blob \"b\", written by operator 0 (Sum) from infinities in \"p\", \"q\", \"r\"");
}

TEST(NaNSearchTest, RepeatsTheRunUntilTheOutputHasANaN) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {2});
  Feed<float>(&ws, "one", {1}, {1});
  constexpr char kCountDown[] = R"(
      op { type: "Sub" input: "x" input: "one" output: "x" }
      op { type: "Sqrt" input: "x" output: "out" })";
  EXPECT_FALSE(Search(&ws, kCountDown, "out", 2).has_value());
  ws.DeleteNet("n");
  Feed<float>(&ws, "x", {1}, {2});
  const auto origin = Search(&ws, kCountDown, "out", 10);
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->run, 3);
  EXPECT_EQ(origin->blob, "out");
}

// What an earlier run left in a blob comes from before the net, as far as the last run knows.
TEST(NaNSearchTest, NamesStateThatAnEarlierRunSpoiled) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "one", {1}, {1});
  Feed<float>(&ws, "state", {1}, {0});
  const auto origin = Search(&ws, R"(
      op { type: "Copy" input: "state" output: "out" }
      op { type: "Sub" input: "x" input: "one" output: "x" }
      op { type: "Sqrt" input: "x" output: "state" })",
                             "out", 10);
  // x is 0 in the first run and -1 in the second, whose NaN the third run reads.
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->run, 3);
  EXPECT_EQ(origin->blob, "state");
  EXPECT_EQ(origin->position, -1);
}

TEST(NaNSearchTest, NamesInfiniteStateOfAnEarlierRun) {
  Workspace ws;
  Feed<float>(&ws, "state", {1}, {1e10f});
  const auto origin = Search(&ws, R"(
      op { type: "Sub" input: "state" input: "state" output: "out" }
      op { type: "Mul" input: "state" input: "state" output: "state" })",
                             "out", 10);
  // state is 1e10, 1e20 and then infinite.
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->run, 3);
  EXPECT_EQ(origin->blob, "out");
  EXPECT_EQ(origin->position, 0);
  EXPECT_THAT(origin->infinite_inputs, ElementsAre("state", "state"));
}

TEST(NaNSearchTest, WritesNoFilesAndKeepsThePositions) {
  const TempDir dir;
  Workspace ws(dir.path());
  Feed<float>(&ws, "x", {1}, {-1});
  const auto origin = Search(&ws, R"(
      op { type: "Save" input: "x" arg { name: "db" s: "x.minidb" } arg { name: "db_type" s: "minidb" } }
      op { type: "Print" input: "x" arg { name: "to_file" i: 1 } }
      op { type: "Sqrt" input: "x" output: "out" })",
                             "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->position, 2);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// Assert prints, and would throw.
TEST(NaNSearchTest, PrintsNothing) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {-1});
  Feed<bool>(&ws, "wrong", {1}, {false});
  const auto origin = Search(&ws, R"(
      op { type: "Assert" input: "wrong" }
      op { type: "Sqrt" input: "x" output: "out" })",
                             "out");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->position, 1);
}

}  // namespace
}  // namespace caffe2rt::test::nan_search_test
