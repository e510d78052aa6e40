// `caffe2 check` of a net alone and together with its init nets and inputs, next to what
// `caffe2 run` does with them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckTest : public ::testing::Test {
 protected:
  // Runs the command on the net, with the init net unless it is empty.
  ProgramResult Run(const std::string& command, const std::string& init, const std::string& net,
                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {command};
    if (command == "run") args.emplace_back("--predict-net");
    args.push_back(dir_.Write("net.pbtxt", net));
    if (!init.empty()) {
      args.emplace_back("--init-net");
      args.push_back(dir_.Write("init.pbtxt", init));
    }
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  ProgramResult Check(const std::string& net, const std::vector<std::string>& more = {}) {
    return Run("check", "", net, more);
  }
  TempDir dir_;
};

// y = x * w' + b with 3 inputs and 2 outputs.
constexpr char kFullyConnected[] = R"(
    external_input: "x" external_input: "w" external_input: "b" external_output: "y"
    op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
constexpr char kWeights[] = R"(
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 ints: 3 }
         arg { name: "values" floats: 1 floats: 2 floats: 3 floats: 4 floats: 5 floats: 6 } }
    op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } })";

TEST_F(CheckTest, NetsThatRunAreFine) {
  const std::vector<std::string> input = {"--input", "x=4,3"};
  EXPECT_EQ(Run("run", kWeights, kFullyConnected, input).code, 0);
  const ProgramResult check = Run("check", kWeights, kFullyConnected, input);
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out,
              AllOf(HasSubstr("net \"init\": fine\n"), HasSubstr("net \"net\": fine\n")));
}

struct Broken {
  const char* what;
  std::string init = "";
  std::string net;
  std::vector<std::string> input = {};
  const char* run_says;
  const char* check_says;
};

std::vector<Broken> BrokenModels() {
  return {
      {.what = "input that nothing fills",
       .net = R"(op { type: "Relu" input: "x" output: "y" })",
       .run_says = "input \"x\" was not given",
       .check_says = "nothing fills \"x\", and the net declares no external_input"},
      {.what = "input that is not given",
       .init = kWeights,
       .net =
           std::string(kFullyConnected) +
           R"(op { type: "Mul" input: "y" input: "factor" output: "z" } external_input: "factor")",
       .input = {"--input", "x=4,3"},
       .run_says = "input \"factor\" was not given",
       .check_says = "input \"factor\" was not given"},
      {.what = "blob that is read before it is made",
       .net =
           R"(op { type: "Relu" input: "b" output: "y" } op { type: "Relu" input: "x" output: "b" })",
       .input = {"--input", "x=2"},
       .run_says = "input \"b\" was not given",
       .check_says = "operator 0: operator Relu reads \"b\" before operator 1 writes it"},
      {.what = "blob that is read before it is made although inputs are declared",
       .net = R"(external_input: "x"
                 op { type: "Relu" input: "b" output: "y" } op { type: "Relu" input: "x" output: "b" })",
       .input = {"--input", "x=2", "--input", "b=2"},
       .run_says = "operator 0; operator 1 writes it later",
       .check_says = "operator 0; operator 1 writes it later"},
      {.what = "weights that are missing",
       .init = R"(op { type: "ConstantFill" output: "other" arg { name: "shape" ints: 2 } })",
       .net = kFullyConnected,
       .input = {"--input", "x=4,3"},
       .run_says = "inputs \"w\", \"b\" were not given",
       .check_says = "operator 0: no init net fills the weights \"w\", \"b\" of FC"},
      {.what = "input of a wrong shape",
       .init = kWeights,
       .net = kFullyConnected,
       .input = {"--input", "x=4,5"},
       .run_says = "needs rows of 3",
       .check_says = "operator 0: operator FC rejects the shapes of its inputs: "},
      {.what = "image with too many channels",
       .init = R"(op { type: "XavierFill" output: "w" arg { name: "shape" ints: 2 ints: 3 ints: 1
                       ints: 1 } })",
       .net = R"(external_input: "x" external_input: "w"
                 op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } })",
       .input = {"--input", "x=1,4,8,8"},
       .run_says = "channels of input 1 (filter)",
       .check_says =
           "operator 0: operator Conv rejects the shapes of its inputs: input 1 (filter)"},
      {.what = "axis that the input does not have",
       .net = R"(external_input: "x" op { type: "Softmax" input: "x" output: "y"
                                          arg { name: "axis" i: -3 } })",
       .input = {"--input", "x=2,3"},
       .run_says = "axis -3 of a tensor of rank 2",
       .check_says = "operator 0: operator Softmax rejects the shapes of its inputs: axis -3 of "
                     "a tensor of rank 2"},
      {.what = "input of a wrong element type",
       .init = R"(op { type: "GivenTensorInt64Fill" output: "w" arg { name: "shape" ints: 1 }
                       arg { name: "values" ints: 7 } })",
       .net = R"(external_input: "x" external_input: "w"
                 op { type: "Add" input: "x" input: "w" output: "y" })",
       .input = {"--input", "x=1"},
       .run_says = "input 1 (B) has elements of type int64, want float as input 0 (A)",
       .check_says = "input 1 (B) has elements of type int64, want float as input 0 (A)"},
      {.what = "labels with one element for each class",
       .net = R"(external_input: "p" external_input: "one_hot"
                 op { type: "Cast" input: "one_hot" output: "labels" arg { name: "to" i: 2 } }
                 op { type: "SoftmaxWithLoss" input: "p" input: "labels" output: "s" output: "l" })",
       .input = {"--input", "p=4,10", "--input", "one_hot=4,10"},
       .run_says = "want one label for each row",
       .check_says = "want one label for each row"},
      {.what = "weight with too few values",
       .init = R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 ints: 2 }
                       arg { name: "values" floats: 7 } })",
       .net = R"(external_input: "x" external_input: "w"
                 op { type: "Add" input: "x" input: "w" output: "y" })",
       .input = {"--input", "x=2,2"},
       .run_says = "want as many as argument values has",
       .check_says =
           "operator 0: operator GivenTensorFill fails: elements of the output of shape [2, 2], "
           "want as many as argument values has (got 4, want 1)"},
      {.what = "database of an unknown type",
       .net = R"(op { type: "CreateDB" output: "r" arg { name: "db" s: "d" }
                      arg { name: "db_type" s: "lmbd" } })",
       .run_says = "argument \"db_type\" is \"lmbd\", want minidb",
       .check_says = "argument \"db_type\" is \"lmbd\", want minidb"},
      {.what = "weights in a database that does not exist",
       .init = R"(op { type: "Load" output: "w" output: "b" arg { name: "db" s: "no.minidb" }
                       arg { name: "db_type" s: "minidb" } })",
       .net = kFullyConnected,
       .input = {"--input", "x=4,3"},
       .run_says = "no.minidb",
       .check_says = "no.minidb"},
      {.what = "unknown input",
       .init = kWeights,
       .net = kFullyConnected,
       .input = {"--input", "x=4,3", "--input", "wb=2"},
       .run_says = "no operator of net \"net\" reads input \"wb\"; close: \"w\", \"b\"",
       .check_says = "no operator of net \"net\" reads input \"wb\"; close: \"w\", \"b\""},
      {.what = "placeholder of the init net",
       .init = std::string(kWeights) + R"(op { type: "ConstantFill" output: "x"
                                               arg { name: "shape" ints: 4 ints: 3 } })",
       .net = kFullyConnected,
       .run_says = "input \"x\" was not given; the net suggests the shape float [4, 3]",
       .check_says = "input \"x\" was not given; the net suggests the shape float [4, 3]"},
      {.what = "unknown operator",
       .net = R"(op { type: "Rleu" input: "x" output: "y" } external_input: "x")",
       .input = {"--input", "x=2"},
       .run_says = "this type is not known; close: Relu",
       .check_says = "operator type \"Rleu\" is not known; close: Relu"},
      {.what = "argument of a wrong value",
       .net = R"(op { type: "Concat" input: "x" output: "y" output: "s"
                      arg { name: "order" s: "NHCW" } } external_input: "x")",
       .input = {"--input", "x=2"},
       .run_says = "NHCW",
       .check_says = "NHCW"},
      {.what = "output that nothing writes",
       .net =
           R"(op { type: "Relu" input: "x" output: "y" } external_input: "x" external_output: "z")",
       .input = {"--input", "x=2"},
       .run_says = "never produced by the net net, the first one is z",
       .check_says = "external_output \"z\" is not written by any operator"},
      {.what = "unknown type of net",
       .net = R"(type: "simpel" op { type: "Relu" input: "x" output: "y" } external_input: "x")",
       .input = {"--input", "x=2"},
       .run_says = "simpel",
       .check_says = "net type \"simpel\" is not known; close: simple"},
  };
}

TEST_F(CheckTest, ReportsWhatRunRejects) {
  for (const Broken& broken : BrokenModels()) {
    const ProgramResult run = Run("run", broken.init, broken.net, broken.input);
    EXPECT_EQ(run.code, 1) << broken.what;
    EXPECT_THAT(run.err, HasSubstr(broken.run_says)) << broken.what;
    const bool is_placeholder = broken.input.empty() && !broken.init.empty();
    const ProgramResult check = Run("check", broken.init, broken.net, broken.input);
    // Without --input, data may still be given to `run`: this is a note.
    EXPECT_EQ(check.code, is_placeholder ? 0 : 1) << broken.what << "\n" << check.out;
    EXPECT_THAT(check.out + check.err, HasSubstr(broken.check_says)) << broken.what;
  }
}

// A shape leaves the values open.
TEST_F(CheckTest, UsesTheValuesOfInputsFromFiles) {
  constexpr char kNet[] = R"(external_input: "x" external_input: "l"
      op { type: "LengthsSum" input: "x" input: "l" output: "y" })";
  Tensor lengths(std::vector<int64_t>{2}, CPU);
  std::fill_n(lengths.mutable_data<int32_t>(), 2, 2);
  WriteNpy(dir_.path("l.npy"), lengths);
  const std::string given = "l=" + dir_.path("l.npy");
  EXPECT_EQ(Check(kNet, {"--input", "x=4,3", "--input", given}).code, 0);
  const std::vector<std::string> wrong = {"--input", "x=3,3", "--input", given};
  const std::string message = "sum of input 1 (LENGTHS), want the number of rows of input 0";
  EXPECT_THAT(Run("run", "", kNet, wrong).err, HasSubstr(message));
  const ProgramResult check = Check(kNet, wrong);
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out, HasSubstr(message));
}

TEST_F(CheckTest, ReportsShapesThatNeedNoInput) {
  const ProgramResult check = Check(
      R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 3 }
              arg { name: "values" floats: 7 } })");
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(
      check.out,
      HasSubstr("operator GivenTensorFill fails: elements of the output of shape [3], want"));
}

TEST_F(CheckTest, AcceptsTheGradientOfAReshapeInAnotherNet) {
  const ProgramResult check = Run("check",
                                  R"(
      op { type: "GivenTensorInt64Fill" output: "old" arg { name: "shape" ints: 2 }
           arg { name: "values" ints: 2 ints: 3 } })",
                                  R"(external_input: "dy" external_input: "old"
      op { type: "Reshape" input: "dy" input: "old" output: "dx" output: "_" is_gradient_op: true })",
                                  {"--input", "dy=6"});
  EXPECT_EQ(check.code, 0) << check.out;
}

TEST_F(CheckTest, ReportsEveryBadArgument) {
  const ProgramResult check = Check(R"(external_input: "x" external_input: "w"
      op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 3 }
           arg { name: "group" i: 0 } arg { name: "order" s: "NHCW" } arg { name: "stride" f: 2 } }
      op { type: "Relu" input: "x" input: "w" output: "z" }
      op { type: "Slice" input: "x" input: "w" output: "u" arg { name: "starts" i: 1 }
           arg { name: "starts" i: 2 } arg { name: "ends" s: "a" } })");
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(
      check.out,
      AllOf(HasSubstr("operator 0: operator Conv: argument \"group\" is 0"),
            HasSubstr("operator 0: operator Conv: argument \"order\" is \"NHCW\""),
            HasSubstr("stride"), HasSubstr("operator 1: operator Relu: it has 2 inputs, want 1"),
            HasSubstr("operator 2: operator Slice: ")));
}

TEST_F(CheckTest, ReportsEveryBadArgumentThatTheConstructorChecks) {
  const ProgramResult check = Check(R"(external_input: "x" external_input: "w"
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernels" ints: 3 ints: 0 }
           arg { name: "order" s: "NHCW" } arg { name: "stride" i: -2 } arg { name: "group" i: 0 }
           arg { name: "dilations" ints: 1 } }
      op { type: "MaxPool" input: "x" output: "b" arg { name: "kernel" i: 2 }
           arg { name: "pad" i: 2 } arg { name: "stride" i: 0 } arg { name: "dilation" i: 2 } }
      op { type: "UniformFill" output: "c" arg { name: "min" f: 2 } arg { name: "max" f: 1 }
           arg { name: "shape" ints: -1 } arg { name: "input_as_shape" i: 1 } }
      op { type: "LRN" input: "x" output: "d" arg { name: "size" i: -1 } arg { name: "order" s: "N" }
      })");
  EXPECT_EQ(check.code, 1);
  for (const char* text :
       {"operator 0: operator Conv: argument \"order\" is \"NHCW\"",
        "operator 0: operator Conv: argument \"group\" is 0", "stride of axis 0",
        "kernel of axis 1", "argument dilations, want as many as kernels",
        "operator 1: operator MaxPool: ", "want less than its kernel 2", "of a pool, want 1",
        "operator 2: operator UniformFill: ", "operator 3: operator LRN: argument \"size\" is -1",
        "operator 3: operator LRN: argument \"order\" is \"N\""}) {
    EXPECT_THAT(check.out, HasSubstr(text));
  }
}

TEST_F(CheckTest, NotesWhatRunsInAnotherWay) {
  const std::string net = R"(external_input: "x"
      op { type: "Relu" input: "x" output: "y" engine: "NO_SUCH" }
      op { type: "Sigmoid" input: "x" output: "y" })";
  EXPECT_EQ(Run("run", "", net, {"--input", "x=2"}).code, 0);
  const ProgramResult check = Check(net);
  EXPECT_EQ(check.code, 0);
  EXPECT_THAT(
      check.out,
      AllOf(
          HasSubstr("note: operator 0: engine \"NO_SUCH\" has no implementation on the device CPU"),
          HasSubstr("note: operator 0: output \"y\" is overwritten by operator 1 "
                    "(Sigmoid) before any operator reads it")));
}

TEST_F(CheckTest, OutputsThatAreReadAreNotOverwritten) {
  const ProgramResult check = Check(R"(external_input: "x" external_input: "c"
      op { type: "Relu" input: "x" output: "y" } op { type: "Sigmoid" input: "y" output: "y" }
      op { type: "If" input: "c" arg { name: "then_net" n {
           op { type: "Print" input: "y" } external_input: "y" } } }
      op { type: "Relu" input: "x" output: "y" })");
  EXPECT_THAT(check.out, HasSubstr("fine\n"));
}

TEST_F(CheckTest, WithoutInputsLeavesDataToTheRun) {
  const ProgramResult check = Run("check", kWeights, kFullyConnected);
  EXPECT_EQ(check.code, 0);
  EXPECT_THAT(check.out, HasSubstr("note: operator 0: input \"x\" was not given; the net suggests "
                                   "the shape float [N, 3]"));
}

TEST_F(CheckTest, WritesFindingsAboutInputsAsJson) {
  const ProgramResult check =
      Run("check", kWeights, kFullyConnected, {"--input", "x=4,5", "--json"});
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(JsonAt(check.out, "/0/subject"), R"("net \"init\"")");
  EXPECT_EQ(JsonAt(check.out, "/1/errors"), "1");
  EXPECT_EQ(JsonAt(check.out, "/1/findings/0/operators"), "[0]");
}

TEST_F(CheckTest, InspectRejectsShapesThatTheNetCannotProcess) {
  const std::vector<std::string> inspect = {"inspect", dir_.Write("net.pbtxt", kFullyConnected),
                                            "--init-net", dir_.Write("init.pbtxt", kWeights),
                                            "--input"};
  const auto with = [&](const char* input) {
    std::vector<std::string> args = inspect;
    args.emplace_back(input);
    return RunCaffe2(args);
  };
  EXPECT_EQ(with("x=4,3").code, 0);
  const ProgramResult wrong = with("x=4,5");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("net \"net\", operator 0: operator FC rejects the shapes"));
  const ProgramResult unknown = with("xx=4,3");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("reads input \"xx\"; close: \"x\""));
}

// Nets in circulation, some without external_input.
TEST(CheckOnSharedFilesTest, FindsNoErrorInModelsThatRun) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet/init_net.pb");
  for (const char* model : {"c2_squeezenet", "c2_resnet_cifar10", "c2_mnist_lenet_pytorch",
                            "c2_superres", "c2_style_crayon"}) {
    const std::string folder = SharedPath("models/") + model;
    const ProgramResult check =
        RunCaffe2({"check", folder + "/predict_net.pb", "--init-net", folder + "/init_net.pb"});
    EXPECT_EQ(check.code, 0) << model << check.out << check.err;
    EXPECT_THAT(check.out, Not(HasSubstr("error"))) << model;
  }
}

}  // namespace
}  // namespace caffe2rt::test::check_test
