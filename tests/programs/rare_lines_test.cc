// Lines that `caffe2` rarely prints: behind tables of just the size that is shown, of values that an init net fills,
// of names with line feeds, and before errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::rare_lines_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kConv[] = R"(name: "n" external_input: "x" external_input: "w" external_input: "b"
    external_output: "y"
    op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
    op { type: "Relu" input: "t" output: "y" })";
constexpr char kConvInit[] =
    R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
     arg { name: "values" floats: 3 } }
op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
     arg { name: "values" floats: 1 } })";
// The input divided by itself: NaN for 0.
constexpr char kDiv[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Div" input: "x" input: "x" output: "y" })";

class RareLinesTest : public ProgramFolder {
 protected:
  Words Conv(const Words& more) const {
    dir_.Write("conv.pbtxt", kConv);
    dir_.Write("init.pbtxt", kConvInit);
    return Joined({"run", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/conv.pbtxt",
                   "--input", "x=" + Array("x.npy", {1, 1, 1, 2}, {5, -1})},
                  more);
  }
  Words Div(const Words& more) const {
    dir_.Write("div.pbtxt", kDiv);
    return Joined({"run", "--predict-net", "DIR/div.pbtxt"}, more);
  }
  // What `caffe2 plan` prints of a matrix that it is fed.
  std::string Matrix(int64_t rows, int64_t columns) const {
    dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" external_input: "x"
        op { type: "Copy" input: "x" output: "y" } } execution_step { network: "n" })");
    const std::vector<float> values(static_cast<size_t>(rows * columns), 7);
    const std::string out = Out({"plan", "DIR/plan.pbtxt", "--fetch", "y", "--input",
                                 "x=" + Array("x.npy", {rows, columns}, values)});
    return out.substr(0, out.find("plan \"p\""));
  }
};

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// --- matrices ---

TEST_F(RareLinesTest, TenColumnsAndTwentyRowsArePrintedWhole) {
  EXPECT_EQ(Matrix(1, 10), "y  float [1, 10]\n " + Repeated(" 7", 10) + "\n");
  EXPECT_EQ(Matrix(1, 11), "y  float [1, 11]\n " + Repeated(" 7", 10) + " ...\n");
  EXPECT_EQ(Matrix(1, 9), "y  float [1, 9]\n " + Repeated(" 7", 9) + "\n");
  EXPECT_EQ(Matrix(20, 1), "y  float [20, 1]\n" + Repeated("  7\n", 20));
  EXPECT_EQ(Matrix(21, 1), "y  float [21, 1]\n" + Repeated("  7\n", 20) + "  ... 1 more row\n");
  EXPECT_EQ(Matrix(23, 12), "y  float [23, 12]\n" +
                                Repeated(" " + Repeated(" 7", 10) + " ...\n", 20) +
                                "  ... 3 more rows\n");
}

// --- values ---

TEST_F(RareLinesTest, StatsTellInputsFromWeights) {
  const std::string out = Out(Conv({"--stats", "--no-optimize"}));
  EXPECT_THAT(out, HasSubstr("  x     input           float"));
  EXPECT_THAT(out, HasSubstr("  w     before the run  float"));
  EXPECT_THAT(out, HasSubstr("  b     before the run  float"));
  EXPECT_THAT(out, HasSubstr("  y     1 Relu          float"));
  const std::string fed = Out(Conv({"--stats", "--no-optimize", "--input", "b=[2.0]"}));
  EXPECT_THAT(fed, HasSubstr("  b     input           float"));
  EXPECT_THAT(fed, HasSubstr("  w     before the run  float"));
}

TEST_F(RareLinesTest, StatsDoNotReplaceTheCheckOfValues) {
  const std::string x = "x=" + Array("x.npy", {1, 2}, {0, 2});
  for (const Words& more : {Words{}, {"--stats"}, {"--stats", "--json"}, {"--fetch", "all"}}) {
    const ProgramResult result = Run(Joined(Div({"--input", x, "--check-finite"}), more));
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("output \"y\" has 1 NaN and 0 infinite of 2 elements"));
    EXPECT_EQ(Run(Joined(Div({"--input", x}), more)).code, 0);
  }
}

TEST_F(RareLinesTest, AWarningNamesTheFileWhoseOutputHasNaN) {
  Array("in/1.npy", {1, 1}, {1});
  Array("in/2.npy", {1, 1}, {0});
  const ProgramResult folder = Run(Div({"--image", "DIR/in", "--json"}));
  EXPECT_EQ(folder.code, 0);
  EXPECT_THAT(folder.err, HasSubstr("output \"y\" for \"DIR/in/2.npy\" has NaN in 1 of 1"));
  EXPECT_EQ(JsonAt(folder.out, "/nan/file"), "\"DIR/in/2.npy\"");
  EXPECT_EQ(JsonAt(folder.out, "/nan/output"), "\"y\"");
  EXPECT_EQ(JsonAt(folder.out, "/nan/operator"), "0");
  EXPECT_EQ(JsonAt(folder.out, "/images/1/file"), "\"DIR/in/2.npy\"");
  const ProgramResult fed = Run(Div({"--input", "x=DIR/in/2.npy", "--json"}));
  EXPECT_EQ(JsonAt(fed.out, "/nan/output"), "\"y\"");
  EXPECT_EQ(JsonAt(fed.out, "/nan/nan"), "1");
  EXPECT_EQ(JsonAt(fed.out, "/nan/elements"), "1");
  EXPECT_THAT(fed.out, Not(HasSubstr("\"file\"")));
}

TEST_F(RareLinesTest, AReceiptListsThePassesThatChangedTheNet) {
  Out(Conv({"--receipt", "DIR/fused.json"}));
  Out(Conv({"--receipt", "DIR/plain.json", "--no-optimize"}));
  const auto passes = [&](const char* name) {
    return JsonAt(ReadWholeFile(dir_.path(name), 1 << 20), "/passes");
  };
  EXPECT_THAT(passes("fused.json"), HasSubstr("\"fuse_activation\""));
  EXPECT_EQ(passes("plain.json"), "[]");
}

// --- warnings and errors ---

TEST_F(RareLinesTest, AWarningIsOneLineWhateverItNames) {
  dir_.Write("log.pbtxt", R"(name: "n" external_input: "x" external_output: "a\nb\rc"
      op { type: "Log" input: "x" output: "a\nb\rc" })");
  const ProgramResult result = Run(
      {"run", "--predict-net", "DIR/log.pbtxt", "--input", "x=" + Array("x.npy", {2}, {-1, 2})});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err,
              StartsWith("caffe2: warning: output \"a\\x0ab\\x0dc\" has NaN in 1 of 2"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(RareLinesTest, APlanIsNamedInOneLine) {
  dir_.Write("plan.pbtxt", R"(name: "a\nb" network { name: "n"
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
      execution_step { network: "n" })");
  const std::string out = Out({"plan", "DIR/plan.pbtxt"});
  EXPECT_THAT(out, StartsWith("plan \"a\\x0ab\" done: 1 net, 1 step, "));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
}

// The library does not repeat what the program has said.
TEST_F(RareLinesTest, APrecisionThatIsNotToBeHadIsReportedOnce) {
  const ProgramResult result = Run(
      Conv({"--precision", "bf16", "--without-pass", "onednn_regions", "--caffe2_log_level=0"}));
  EXPECT_EQ(result.code, 0);
  const std::string line = "precision bf16: all operators compute in f32, because ";
  const size_t first = result.err.find(line);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(line, first + 1), std::string::npos) << result.err;
}

TEST_F(RareLinesTest, SeveralMissingInputsHaveARemedyForAnyOfThem) {
  dir_.Write("sum.pbtxt", R"(name: "n" external_input: "x" external_input: "z" external_input: "w"
      external_output: "y" op { type: "Sum" input: "x" input: "z" input: "w" output: "y" })");
  dir_.Write("init.pbtxt", kConvInit);
  const Words run = {"run", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/sum.pbtxt"};
  EXPECT_EQ(
      Run(run).err,
      "caffe2: net \"n\": inputs \"x\", \"z\" were not given; want --input BLOB=FILE, --input "
      "BLOB=SHAPE or --image FILE\n");
  EXPECT_EQ(Run(Joined(run, {"--input", "x=1,1,1,1"})).err,
            "caffe2: net \"n\": input \"z\" was not given; want --input z=FILE, --input z=SHAPE or "
            "--image FILE\n");
}

TEST_F(RareLinesTest, AnErrorFollowsWhatWasPrintedBeforeIt) {
  dir_.Write("div.pbtxt", kDiv);
  const std::string command = "'" + BuildPath(CAFFE2_PROGRAM) + "' run --predict-net '" +
                              dir_.path("div.pbtxt") + "' --input x=[0.0,2.0] --check-finite 2>&1";
  const ProgramResult result = RunProgram("/bin/sh", {"-c", command});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, StartsWith("x  float [2]   given\ncaffe2: net \"n\", operator 0 (Div"));
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2) << result.out;
}

}  // namespace
}  // namespace caffe2rt::test::rare_lines_test
