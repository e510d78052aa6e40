// How `caffe2 run` prints scores: which classes, in which order, with which labels.

#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::outputs_test {
namespace {

class ScoresTest : public ::testing::Test {
 protected:
  // Runs a net with these scores as output y. Returns the lines printed between that of y and the
  // last one.
  std::string Print(const std::vector<float>& scores, std::vector<std::string> more) {
    Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(scores.size())}, CPU);
    std::copy(scores.begin(), scores.end(), tensor.mutable_data<float>());
    WriteNpy(dir_.path("x.npy"), tensor);
    std::vector<std::string> args = {
        "run", "--predict-net",
        dir_.Write("net.pbtxt",
                   R"(op { type: "Copy" input: "x" output: "y" } external_input: "x")"),
        "--input", "x=" + dir_.path("x.npy")};
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    const size_t begin = result.out.find('\n', result.out.find("y  float")) + 1;
    return result.out.substr(begin, result.out.rfind('\n', result.out.size() - 2) + 1 - begin);
  }
  TempDir dir_;
};

TEST_F(ScoresTest, PutsTheFirstOfTiedClassesFirst) {
  EXPECT_EQ(Print({0.25f, 0.5f, 0.25f, 0.5f, 0.25f}, {"--top", "4"}),
            "  0.500  class 1\n  0.500  class 3\n  0.250  class 0\n  0.250  class 2\n");
}

TEST_F(ScoresTest, PutsNaNBehindAllNumbers) {
  EXPECT_EQ(Print({NAN, -1, NAN, 0.5f}, {"--top", "3"}),
            "  0.500  class 3\n  -1.000  class 1\n  nan  class 0\n");
  EXPECT_EQ(Print({NAN, -INFINITY}, {"--top", "1"}), "  -inf  class 1\n");
}

TEST_F(ScoresTest, ReadsLabelsWithAnyEndOfLine) {
  for (const std::string& end : {std::string("\n"), std::string("\r\n")}) {
    const std::string labels = dir_.Write("labels.txt", "cat" + end + end + "grey wolf" + end);
    EXPECT_EQ(Print({3, 2, 1}, {"--labels", labels}),
              "  3.000  cat\n  2.000  \n  1.000  grey wolf\n");
  }
}

TEST_F(ScoresTest, LabelsOfJsonHoldNoEndOfLine) {
  const std::string labels = dir_.Write("labels.txt", "cat\r\ndog\r\n");
  const ProgramResult result = RunCaffe2(
      {"run", "--predict-net",
       dir_.Write("net.pbtxt", R"(op { type: "Copy" input: "x" output: "y" } external_input: "x")"),
       "--input", "x=2", "--labels", labels, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> found = {JsonAt(result.out, "/outputs/0/top/0/0/label"),
                                          JsonAt(result.out, "/outputs/0/top/0/1/label")};
  EXPECT_THAT(found, testing::UnorderedElementsAre(R"("cat")", R"("dog")"));
}

TEST(OutputNamesTest, AreAlignedByTheirWidthOnATerminal) {
  const TempDir dir;
  // Names of 4, 6 and 2 columns; the last one has a line feed.
  const ProgramResult result = RunCaffe2({"run", "--predict-net", dir.Write("net.pbtxt", R"(
           op { type: "ConstantFill" output: "\347\225\263\347\225\263" arg { name: "shape" ints: 1 } }
           op { type: "ConstantFill" output: "a\nb" arg { name: "shape" ints: 1 } }
           op { type: "ConstantFill" output: "ab" arg { name: "shape" ints: 1 } })")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("\u7573\u7573    float [1]\n  0\n"
                                              "a\\x0ab  float [1]\n  0\n"
                                              "ab      float [1]\n  0\n"));
}

// Of two batches of three channels of two rows: each matrix is behind its position.
TEST(OutputRowsTest, EachMatrixHasItsPosition) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(name: "p" network { name: "n"
      external_input: "x" op { type: "Copy" input: "x" output: "y" } }
      execution_step { network: "n" })");
  const auto printed = [&](const std::string& x) {
    const ProgramResult result =
        RunCaffe2({"plan", plan, "--input", "x=" + x, "--cast", "int32", "--fetch", "y"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out.substr(0, result.out.find("plan \"p\""));
  };
  EXPECT_EQ(printed("[[[[1,2],[3,4]],[[5,6],[7,8]],[[9,10],[11,12]]],"
                    "[[[13,14],[15,16]],[[17,18],[19,20]],[[21,22],[23,24]]]]"),
            R"(y  int32 [2, 3, 2, 2]
  [0, 0, :, :]
   1  2
   3  4
  [0, 1, :, :]
   5  6
   7  8
  [0, 2, :, :]
   9 10
  11 12
  [1, 0, :, :]
  13 14
  15 16
  [1, 1, :, :]
  17 18
  19 20
  [1, 2, :, :]
  21 22
  23 24
)");
  EXPECT_EQ(printed("[[[1],[2],[3]],[[4],[5],[6]]]"),
            "y  int32 [2, 3, 1]\n  [0, :, :]\n  1\n  2\n  3\n  [1, :, :]\n  4\n  5\n  6\n");
  EXPECT_EQ(printed("[[[[[1]]]],[[[[2]]]]]"),
            "y  int32 [2, 1, 1, 1, 1]\n  [0, 0, 0, :, :]\n  1\n  [1, 0, 0, :, :]\n  2\n");
}

// Without --top, ten rows are printed.
TEST(OutputRowsTest, TopIsPrintedOfEveryRow) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(name: "n" external_input: "x"
      external_output: "y" op { type: "Copy" input: "x" output: "y" })");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=12,3", "--top", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (int row = 0; row < 12; ++row)
    EXPECT_THAT(result.out, testing::HasSubstr(MakeString("row ", row, "\n"))) << row;
}

// Neither rows without elements nor no rows have classes.
TEST(OutputRowsTest, AnEmptyTensorHasNoLines) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(name: "n" external_input: "x"
      external_output: "y" op { type: "Copy" input: "x" output: "y" })");
  for (const char* dims : {"0", "0,3", "3,0", "2,0,2"}) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--top", "2"}}) {
      std::vector<std::string> args = {"run", "--predict-net", net, "--input",
                                       std::string("x=") + dims};
      args.insert(args.end(), more.begin(), more.end());
      const ProgramResult result = RunCaffe2(args);
      EXPECT_EQ(result.code, 0) << result.err;
      const std::string shape = "float [" + absl::StrReplaceAll(dims, {{",", ", "}}) + "]";
      const std::string lines = "x  " + shape + "   random, seed 1\ny  " + shape + "\n";
      EXPECT_THAT(result.out, testing::StartsWith(lines));
      // Only the line with the time follows.
      EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3) << result.out;
      args.push_back("--json");
      const std::string json = RunCaffe2(args).out;
      EXPECT_EQ(JsonAt(json, "/outputs/0/values"), "[]") << json;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::outputs_test
