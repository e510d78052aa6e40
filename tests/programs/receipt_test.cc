// `caffe2 run --receipt` and `caffe2 receipt compare`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::receipt_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNet[] = R"(
name: "random" external_input: "x" external_output: "z"
op { type: "Abs" input: "x" output: "a" }
op { type: "Dropout" input: "a" output: "y" output: "mask" name: "drop" debug_info: "model.py:7"
     arg { name: "is_test" i: 0 } }
op { type: "UniformFill" output: "u" arg { name: "shape" ints: 200 } }
op { type: "Add" input: "y" input: "u" output: "z" })";

class ReceiptProgramTest : public ::testing::Test {
 protected:
  // Writes the receipt of a run.
  std::string Receipt(const std::string& name, const std::vector<std::string>& more) {
    const std::string file = dir_.path(name + ".json");
    std::vector<std::string> args = {"run",     "--predict-net", dir_.Write("net.pbtxt", kNet),
                                     "--input", "x=200",         "--receipt",
                                     file};
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    return file;
  }
  ProgramResult Compare(const std::string& first, const std::string& second,
                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"receipt", "compare", first, second};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  TempDir dir_;
};

TEST_F(ReceiptProgramTest, TwoProcessesGiveEqualReceiptsOnEveryExecutorAndNumberOfThreads) {
  const std::string first = Receipt("first", {"--seed", "5", "--receipt-all"});
  EXPECT_EQ(ReadWholeFile(Receipt("again", {"--seed", "5", "--receipt-all"})),
            ReadWholeFile(first));
  for (const char* executor : {"simple", "dag", "async_scheduling", "parallel"}) {
    const std::string other = Receipt(
        "other", {"--seed", "5", "--receipt-all", "--threads", "3", "--executor", executor});
    const ProgramResult result = Compare(first, other);
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_THAT(result.out, AllOf(HasSubstr("equal: 1 output, "), HasSubstr("threads: 1 and 3")));
    EXPECT_THAT(result.err, IsEmpty());
  }
}

// The input is random, too, unless it is given.
TEST_F(ReceiptProgramTest, NamesTheFirstOperatorThatDiffers) {
  std::string ones = "1";
  for (int i = 1; i < 200; ++i) ones += ",1.0";
  const std::vector<std::string> given = {"--input", "x=" + ones, "--receipt-all", "--no-optimize"};
  const auto receipt = [&](const std::string& seed) {
    const std::string file = dir_.path(seed + ".json");
    std::vector<std::string> args = {
        "run", "--predict-net", dir_.Write("net.pbtxt", kNet), "--seed", seed, "--receipt", file};
    args.insert(args.end(), given.begin(), given.end());
    EXPECT_EQ(RunCaffe2(args).code, 0);
    return file;
  };
  const std::string first = receipt("1"), second = receipt("2");
  const ProgramResult result = Compare(first, second);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("different: 1 output, 4 results of operators"),
            HasSubstr("first operator: 1 Dropout \"drop\" (model.py:7)\n  output \"y\": float "
                      "[1, 200], "),
            HasSubstr("these differ, too:\n  seed: 1 and 2\n")));
  const ProgramResult json = Compare(first, second, {"--json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(JsonAt(json.out, "/equal"), "false");
  EXPECT_EQ(JsonAt(json.out, "/first_operator/operator"), R"("1 Dropout \"drop\"")");
  EXPECT_EQ(JsonAt(json.out, "/first_operator/debug_info"), "\"model.py:7\"");
  EXPECT_EQ(JsonAt(json.out, "/conditions"), "[\"seed: 1 and 2\"]");
  EXPECT_EQ(JsonAt(Compare(first, first, {"--json"}).out, "/equal"), "true");
}

TEST_F(ReceiptProgramTest, RecordsNetsInsideOperators) {
  const std::string net = dir_.Write("nested.pbtxt", R"(name: "nested" external_output: "y"
      op { type: "GivenTensorBoolFill" output: "yes" arg { name: "values" ints: 1 } }
      op { type: "If" input: "yes" output: "y" arg { name: "then_net" n { external_output: "y"
        op { type: "UniformFill" output: "y" arg { name: "shape" ints: 20 } } } } })");
  std::vector<std::string> files;
  for (const char* seed : {"1", "2"}) {
    files.push_back(dir_.path(MakeString("nested", seed, ".json")));
    const ProgramResult result = RunCaffe2(
        {"run", "--predict-net", net, "--seed", seed, "--receipt", files.back(), "--receipt-all"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_THAT(Compare(files[0], files[1]).out,
              HasSubstr("first operator: 1.0 UniformFill\n  output \"y\": float [20], "));
}

TEST_F(ReceiptProgramTest, WithoutTheOperatorsComparesOutputs) {
  const std::string first = Receipt("first", {"--seed", "1"});
  const std::string second = Receipt("second", {"--seed", "1", "--iterations", "2"});
  const ProgramResult result = Compare(first, second);
  EXPECT_EQ(result.code, 1) << "run 1 draws other numbers than run 0";
  EXPECT_THAT(result.out, AllOf(HasSubstr("output \"z\""), HasSubstr("--receipt-all"),
                                HasSubstr("runs: 1 and 2")));
  EXPECT_EQ(JsonAt(ReadWholeFile(second), "/seed"), "1");
  EXPECT_EQ(JsonAt(ReadWholeFile(Receipt("none", {})), "/seed"), "null");
}

TEST_F(ReceiptProgramTest, RejectsWrongUse) {
  const std::string file = Receipt("a", {});
  struct Case {
    std::vector<std::string> args;
    int code;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{"receipt"}, 2, "want compare and two receipts"},
      {{"receipt", "compare", file}, 2, "want compare and two receipts"},
      {{"receipt", "compere", file, file}, 2, "did you mean compare?"},
      {{"receipt", "compare", file, dir_.path("none.json")}, 1, "none.json"},
      {{"receipt", "compare", file, dir_.Write("b.json", "{}")}, 1, "b.json\" is not a receipt"},
      {{"run", "--predict-net", dir_.Write("n.pbtxt", kNet), "--input", "x=200", "--receipt-all"},
       2,
       "option --receipt-all is given without --receipt FILE"}};
  for (const Case& wrong : cases) {
    const ProgramResult result = RunCaffe2(wrong.args);
    EXPECT_EQ(result.code, wrong.code) << wrong.message;
    EXPECT_THAT(result.err, HasSubstr(wrong.message));
  }
}

}  // namespace
}  // namespace caffe2rt::test::receipt_test
