// caffe2 gradients: the net that it writes runs, and gives the derivatives worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::gradients_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The squared error of y = w x + b with w = 3 and b = 1 at x = 1, 2 and y = 5, 5: the differences
// are -1 and 2, the loss is 5, dw = 2 (-1 * 1 + 2 * 2) = 6 and db = 2 (-1 + 2) = 2.
constexpr char kLine[] = R"(
    op { type: "GivenTensorFill" output: "x" arg { name: "shape" ints: 2 ints: 1 }
         arg { name: "values" floats: 1 floats: 2 } }
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 1 ints: 1 }
         arg { name: "values" floats: 3 } }
    op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
         arg { name: "values" floats: 1 } }
    op { type: "GivenTensorFill" output: "target" arg { name: "shape" ints: 2 ints: 1 }
         arg { name: "values" floats: 5 floats: 5 } }
    op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
    op { type: "Sub" input: "y" input: "target" output: "difference" }
    op { type: "Sqr" input: "difference" output: "square" }
    op { type: "SumElements" input: "square" output: "loss" }
    external_output: "loss")";

class GradientsProgramTest : public ::testing::Test {
 protected:
  ProgramResult Gradients(std::vector<std::string> more) {
    std::vector<std::string> args = {"gradients", "--predict-net", net_, "--output", out_};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  const TempDir dir_;
  const std::string net_ = dir_.Write("net.pbtxt", kLine);
  const std::string out_ = dir_.path("out.pbtxt");
};

// The file is written in the format that its name states, or else in that of the net's, also when
// the gradients are verified.
TEST_F(GradientsProgramTest, VerifyingDoesNotChangeWhatIsWritten) {
  const std::string binary = dir_.path("net.pb");
  ASSERT_EQ(RunCaffe2({"convert", net_, "--output", binary}).code, 0);
  const struct {
    std::string net, output;
    bool is_text;
  } rows[] = {
      {net_, "out", true},         {binary, "out", false},         {net_, "out.pb", false},
      {binary, "out.pbtxt", true}, {binary, "out.prototxt", true}, {binary, "out.txt", true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.net + " " + row.output);
    const auto written = [&](const std::vector<std::string>& more) {
      const std::string out = dir_.path(row.output);
      std::vector<std::string> args = {"gradients", "--predict-net", row.net, "--output",
                                       out,         "--loss",        "loss"};
      args.insert(args.end(), more.begin(), more.end());
      const ProgramResult result = RunCaffe2(args);
      EXPECT_EQ(result.code, 0) << result.err;
      return ReadWholeFile(out);
    };
    const std::string plain = written({});
    EXPECT_EQ(plain.find("type: \"FC\"") != std::string::npos, row.is_text);
    EXPECT_EQ(written({"--verify"}), plain);
    EXPECT_EQ(written({"--verify", "--json"}), plain);
  }
}

TEST_F(GradientsProgramTest, WritesANetThatComputesTheGradients) {
  const ProgramResult made = Gradients({"--loss", "loss", "--wrt", "w", "--wrt", "b"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "b: b_grad\nw: w_grad\n");
  const std::string results = dir_.path("results.npz");
  const ProgramResult run = RunCaffe2({"run", "--predict-net", out_, "--output", results});
  ASSERT_EQ(run.code, 0) << run.err;
  std::map<std::string, float> values;
  for (const auto& [name, tensor] : ReadNpz(results)) values[name] = tensor.data<float>()[0];
  EXPECT_THAT(values, ElementsAre(testing::Pair("b_grad", 2.0f), testing::Pair("loss", 5.0f),
                                  testing::Pair("w_grad", 6.0f)));
}

TEST_F(GradientsProgramTest, LeavesOutTheGradientsThatAreNotAskedFor) {
  ASSERT_EQ(Gradients({"--loss", "loss", "--wrt", "difference"}).code, 0);
  EXPECT_THAT(ReadWholeFile(out_), Not(HasSubstr("FCGradient")));
  ASSERT_EQ(Gradients({"--loss", "loss"}).code, 0);
  EXPECT_THAT(ReadWholeFile(out_), HasSubstr("FCGradient"));
}

TEST_F(GradientsProgramTest, ListsTheGradientsAsJson) {
  const ProgramResult result = Gradients({"--loss", "loss", "--wrt", "w", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/forward_operators"), "8");
  EXPECT_EQ(JsonAt(result.out, "/gradients"), R"([{"blob":"w","gradient":"w_grad"}])");
}

TEST_F(GradientsProgramTest, DifferentiatesTheDemo) {
  const ProgramResult result =
      RunCaffe2({"gradients", "--predict-net", SourcePath("binaries/demo/line.pbtxt"), "--loss",
                 "loss", "--output", out_});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("w: w_grad\n"));
}

TEST_F(GradientsProgramTest, ExplainsWhatIsWrong) {
  EXPECT_EQ(Gradients({}).code, 2);
  EXPECT_THAT(Gradients({}).err, HasSubstr("--loss is missing"));
  const ProgramResult misspelt = Gradients({"--loss", "los"});
  EXPECT_EQ(misspelt.code, 1);
  EXPECT_THAT(misspelt.err, HasSubstr("writes the blob \"los\"; did you mean loss?"));
  EXPECT_THAT(Gradients({"--loss", "loss", "--wrt", "v"}).err,
              HasSubstr("blob \"v\" has no gradient"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(GradientsProgramTest, VerifiesGradientsByDifferenceQuotients) {
  const ProgramResult result =
      RunCaffe2({"gradients", "--predict-net", net_, "--loss", "loss", "--verify", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/verified/0/blob"), "\"b\"");
  EXPECT_EQ(JsonAt(result.out, "/verified/3/blob"), "\"x\"");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(JsonAt(result.out, MakeString("/verified/", i, "/wrong")), "0");
  const ProgramResult table =
      RunCaffe2({"gradients", "--predict-net", net_, "--loss", "y", "--wrt", "w", "--verify"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("w     w_grad"), Not(HasSubstr("b_grad"))));
  EXPECT_EQ(Gradients({"--loss", "loss", "--input", "x=1"}).code, 2);  // without --verify
}

// p = a * a, of which one factor is a constant for the gradient: that is a instead of 2 a.
TEST_F(GradientsProgramTest, OneWrongGradientFails) {
  const TempDir dir;
  const std::string net = dir.Write("wrong.pbtxt", R"(name: "g" external_input: ["a", "z"]
      external_output: "loss" op { type: "StopGradient" input: "a" output: "s" }
      op { type: "Mul" input: ["a", "s"] output: "p" } op { type: "Add" input: ["p", "z"] output: "y" }
      op { type: "SumElements" input: "y" output: "loss" })");
  const auto verify = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"gradients", "--predict-net", net,     "--loss",  "loss",
                                     "--verify",  "--input",       "a=[3]", "--input", "z=[1]"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  };
  const std::string error = "caffe2: gradients of net \"g\" differ from the difference quotients\n";
  const ProgramResult both = verify({"--json"});
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.err, error);
  EXPECT_EQ(JsonAt(both.out, "/verified/0"),
            R"({"blob":"a","gradient":"a_grad","elements":1,"not_smooth":0,"wrong":1,)"
            R"("worst":{"element":0,"computed":3,"quotient":6}})");
  EXPECT_EQ(JsonAt(both.out, "/verified/1/blob") + JsonAt(both.out, "/verified/1/wrong"), "\"z\"0");
  EXPECT_THAT(
      verify({}).out,
      AllOf(HasSubstr("elements  not smooth  wrong  worst at  computed  quotient\n"),
            HasSubstr(
                "  a     a_grad           1           0      1         0         3         6\n")));
  // Where a is 0, its gradient is right.
  const std::string second =
      RunCaffe2({"gradients", "--predict-net", net, "--loss", "loss", "--verify", "--json",
                 "--input", "a=[0,3,0]", "--input", "z=[1,1,1]"})
          .out;
  EXPECT_EQ(JsonAt(second, "/verified/0/worst"), R"({"element":1,"computed":3,"quotient":6})");
  const std::string out = dir.path("out.pbtxt");
  const ProgramResult written = verify({"--output", out});
  EXPECT_EQ(written.code, 1);
  EXPECT_EQ(written.err, error);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(verify({"--wrt", "a"}).code, 1);
  EXPECT_EQ(verify({"--wrt", "z"}).code, 0);
  EXPECT_EQ(verify({"--wrt", "z", "--output", out}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace caffe2rt::test::gradients_test
