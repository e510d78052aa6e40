// The inputs of `caffe2 run` and other commands: which are missing, unknown or given twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::inputs_test {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// y = x * w' + b with 3 inputs and 2 outputs.
constexpr char kFullyConnected[] = R"(
    external_input: "x" external_input: "w" external_input: "b" external_output: "y"
    op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
constexpr char kWeights[] = R"(
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 ints: 3 }
         arg { name: "values" floats: 1 floats: 2 floats: 3 floats: 4 floats: 5 floats: 6 } }
    op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } })";

class InputsTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& command, const std::string& init, const std::string& net,
                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {command, "--predict-net", dir_.Write("net.pbtxt", net)};
    if (!init.empty()) {
      args.emplace_back("--init-net");
      args.push_back(dir_.Write("init.pbtxt", init));
    }
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  TempDir dir_;
};

TEST_F(InputsTest, NamesTheInputThatWasNotGivenAndItsShape) {
  for (const char* command : {"run", "bench"}) {
    const ProgramResult result = Run(command, kWeights, kFullyConnected);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                Eq("caffe2: net \"net\": input \"x\" was not given; the net suggests the "
                   "shape float [N, 3]; want --input x=FILE, --input x=SHAPE or --image "
                   "FILE\n"));
  }
}

TEST_F(InputsTest, InputsThatAreOutputsAreNamed) {
  const ProgramResult result =
      Run("run", "",
          R"(external_input: "a" external_input: "b" external_output: "b" external_output: "c"
             op { type: "Relu" input: "a" output: "c" })",
          {"--input", "a=2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              Eq("caffe2: net \"net\": input \"b\" was not given; want --input b=FILE, --input "
                 "b=SHAPE or --image FILE\n"));
}

TEST_F(InputsTest, ErrorsOfShapesNameTheOption) {
  const ProgramResult result =
      Run("run", kWeights, kFullyConnected, {"--input", "x=99999999999,99999999999"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, StartsWith("caffe2: option --input x=99999999999,99999999999: "));
}

TEST_F(InputsTest, ReportsThatADatabaseIsMissingOrOfAnotherKind) {
  const ProgramResult missing = RunCaffe2({"run", "--predictor", dir_.path("absent.minidb")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err,
              AllOf(HasSubstr("absent.minidb\": No such file"), Not(HasSubstr("--db-type"))));
  const std::string net = dir_.Write("net.pbtxt", kFullyConnected);
  EXPECT_THAT(RunCaffe2({"run", "--predictor", net}).err,
              HasSubstr("as a database: it is a NetDef\n"));
  EXPECT_THAT(RunCaffe2({"run", "--predictor", dir_.Write("x", "?\x01?\x02")}).err,
              HasSubstr("; --db-type specifies it\n"));
}

TEST_F(InputsTest, SuggestsTheChannelsOfConvolutions) {
  const auto suggested = [&](const std::string& shape, const std::string& args) {
    const std::string init =
        R"(op { type: "XavierFill" output: "w" arg { name: "shape" )" + shape + " } }";
    const std::string net = R"(external_input: "x" external_input: "w" op { type: "Conv" input: "x"
        input: "w" output: "y" arg { name: "kernel" i: 3 } )" +
                            args + " }";
    return Run("run", init, net).err;
  };
  EXPECT_THAT(suggested("ints: 8 ints: 2 ints: 3 ints: 3", R"(arg { name: "group" i: 4 })"),
              HasSubstr("float [N, 8, H, W];"));
  EXPECT_THAT(suggested("ints: 8 ints: 3 ints: 3 ints: 5", R"(arg { name: "order" s: "NHWC" })"),
              HasSubstr("float [N, H, W, 5];"));
}

TEST_F(InputsTest, NamesTheFirstOfManyInputsThatWereNotGiven) {
  std::string net = "name: 'many' op { type: 'Sum' output: 'y'";
  for (int i = 0; i < 1000; ++i) net += MakeString(" input: 'x", i, std::string(1000, 'x'), "'");
  const ProgramResult result = Run("run", "", net + " }");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("inputs \"x0xxx"), HasSubstr("...\", \"x1xxx"),
                                HasSubstr("...\" and 990 more were not given; want --init-net")));
  EXPECT_LT(result.err.size(), 3000u);
}

// Exporters fill the data blob with zeros.
TEST_F(InputsTest, DoesNotRunOnPlaceholders) {
  const auto placeholder = [](const std::string& shape) {
    return kWeights + (R"(op { type: "ConstantFill" output: "x" arg { name: "shape" )" + shape) +
           " } }";
  };
  const std::string mark = kWeights + std::string(R"(
      op { type: "GivenTensorFill" output: "x" arg { name: "shape" ints: 1 ints: 1 }
           arg { name: "values" floats: 0 } })");
  for (const std::string& init : {placeholder("ints: 1"), placeholder("ints: 4 ints: 3"), mark}) {
    for (const char* command : {"run", "bench"}) {
      const ProgramResult result = Run(command, init, kFullyConnected);
      EXPECT_EQ(result.code, 1) << init;
      EXPECT_THAT(result.err, HasSubstr("input \"x\" was not given; the net suggests")) << init;
    }
    EXPECT_EQ(Run("run", init, kFullyConnected, {"--input", "x=4,3"}).code, 0) << init;
  }
  EXPECT_THAT(Run("run", placeholder("ints: 4 ints: 3"), kFullyConnected).err,
              HasSubstr("the shape float [4, 3]"));
}

TEST_F(InputsTest, RunsOnValuesThatTheInitNetGives) {
  for (const char* fill : {
           R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 4 ints: 3 }
                   arg { name: "value" f: 2 } })",
           R"(op { type: "XavierFill" output: "x" arg { name: "shape" ints: 4 ints: 3 } })",
           R"(op { type: "GivenTensorFill" output: "x" arg { name: "shape" ints: 1 ints: 3 }
                   arg { name: "values" floats: 0 floats: 0 floats: 0 } })"}) {
    const ProgramResult result = Run("run", std::string(kWeights) + fill, kFullyConnected);
    EXPECT_EQ(result.code, 0) << fill << result.err;
  }
}

// The state of a cell that starts with zeros, a counter, and zeros beside data that is given.
TEST_F(InputsTest, ZerosThatAreNoDataAreValues) {
  const char* zeros = R"(
      op { type: "ConstantFill" output: "state" arg { name: "shape" ints: 2 } }
      op { type: "ConstantFill" output: "count" arg { name: "shape" ints: 2 } })";
  const ProgramResult result = Run("run", zeros, R"(
      op { type: "Add" input: "state" input: "x" output: "y" } external_input: "state"
      op { type: "Add" input: "count" input: "x" output: "count" } external_input: "count"
      external_input: "x" external_output: "y")",
                                   {"--input", "x=2"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(InputsTest, RejectsUnknownInputs) {
  for (const char* command : {"run", "bench"}) {
    const ProgramResult result =
        Run(command, kWeights, kFullyConnected, {"--input", "x=4,3", "--input", "bw=2"});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                Eq("caffe2: no operator of net \"net\" reads input \"bw\"; close: \"w\", \"b\"\n"));
  }
}

TEST_F(InputsTest, RejectsAFileWithATensorThatNoOperatorReads) {
  Tensor x({4, 3}, CPU), unread({2}, CPU);
  std::fill_n(x.mutable_data<float>(), 12, 1.f);
  std::fill_n(unread.mutable_data<float>(), 2, 1.f);
  WriteNpz(dir_.path("all.npz"), {{"x", x}, {"bw", unread}});
  const ProgramResult result =
      Run("run", kWeights, kFullyConnected, {"--input", dir_.path("all.npz")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              Eq("caffe2: no operator of net \"net\" reads input \"bw\"; close: \"w\", \"b\"\n"));
}

TEST_F(InputsTest, PlansRejectUnknownInputs) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(
      name: "p" network { name: "n" op { type: "Relu" input: "data" output: "y" } }
      execution_step { network: "n" })");
  EXPECT_EQ(RunCaffe2({"plan", plan, "--input", "data=2"}).code, 0);
  const ProgramResult result = RunCaffe2({"plan", plan, "--input", "dtaa=2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("reads input \"dtaa\"; close: \"data\""));
}

TEST_F(InputsTest, InputsOfNestedNetsAreKnown) {
  const std::string net = R"(
      op { type: "If" input: "c" arg { name: "then_net" n {
           op { type: "Relu" input: "inner" output: "y" } } } } external_input: "c")";
  const std::string init = R"(op { type: "GivenTensorBoolFill" output: "c"
      arg { name: "shape" } arg { name: "values" ints: 1 } })";
  const ProgramResult result = Run("run", init, net, {"--input", "inner=2"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(InputsTest, RejectsAnImageAndAnInputForOneBlob) {
  const std::string image = DemoFile("images/rising_1.png");
  for (const std::string& argument : {image, "data=" + image}) {
    const ProgramResult result =
        RunCaffe2(WithDemo({"run", "--image", argument, "--input", "data=1,3,64,64"}));
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("blob \"data\" is given by both --input and --image"));
  }
  EXPECT_THAT(RunCaffe2(WithDemo({"run", "--image", "dta=" + image})).err,
              HasSubstr("reads input \"dta\"; close: \"data\""));
}

TEST_F(InputsTest, NamesTheFoldersInWhichADatabaseWasSought) {
  const std::string net = dir_.Write("nets/net.pbtxt", R"(
      op { type: "Load" output: "w" arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } })");
  const std::string root = dir_.Write("root/file", "");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--root", dir_.path("root")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("\"w.minidb\" was sought in \""),
                                HasSubstr("/root\" and \""), HasSubstr("/nets\"")));
}

TEST(InputsOnSharedFilesTest, NamesTheInputOfAPredictor) {
  SKIP_WITHOUT_SHARED("models/c2_files/predictor_export.minidb");
  const ProgramResult result =
      RunCaffe2({"run", "--predictor", SharedPath("models/c2_files/predictor_export.minidb")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("input \"data\" was not given; the net suggests the shape "
                                    "float [2, 1, 8, 8]; want --input data=FILE"));
}

TEST(InputsOnSharedFilesTest, NamesTheInputsOfModelsInCirculation) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet/init_net.pb");
  for (const auto& [model, input] : {std::pair("c2_squeezenet", "data"),
                                     {"c2_resnet_cifar10", "data"},
                                     {"c2_style_crayon", "data_int8_bgra"}}) {
    const std::string folder = SharedPath("models/") + model;
    const ProgramResult result = RunCaffe2({"run", "--predict-net", folder + "/predict_net.pb",
                                            "--init-net", folder + "/init_net.pb"});
    EXPECT_EQ(result.code, 1) << model;
    EXPECT_THAT(result.err, HasSubstr(MakeString("input \"", input, "\" was not given"))) << model;
  }
}

// A net whose first operators read many weights.
TEST_F(InputsTest, AForgottenInitNetGivesAShortList) {
  std::string net = "name: \"many\" external_output: \"y52\" ";
  for (int i = 0; i < 53; ++i) {
    net += MakeString("op { type: \"FC\" input: \"", i == 0 ? "x" : MakeString("y", i - 1),
                      "\" input: \"w", i, "\" input: \"b", i, "\" output: \"y", i, "\" }\n");
  }
  const std::string image = dir_.path("a.png");
  SavePng(image, {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  const std::string by_image = Run("run", "", net, {"--image", image}).err;
  EXPECT_THAT(by_image, AllOf(HasSubstr("has 107 inputs that no init net sets: \"x\", \"w0\""),
                              HasSubstr(" and 97 more; want --init-net FILE")));
  EXPECT_THAT(by_image, Not(HasSubstr("w20")));
  EXPECT_THAT(Run("run", "", net, {"--input", "x=1,3"}).err,
              AllOf(HasSubstr(" and 96 more were not given; want --init-net FILE for weights"),
                    Not(HasSubstr("w20"))));
}

TEST_F(InputsTest, SwappedNetsAreReported) {
  const ProgramResult result = Run("run", kFullyConnected, kWeights, {"--input", "x=1,3"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the init net and the predict net are swapped: init net"),
                                HasSubstr("reads blob \"w\", which predict net")));
}

TEST_F(InputsTest, NumbersAreValues) {
  const auto run = [&](const std::string& value) {
    return Run("run", "", R"(external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })",
               {"--input", "x=" + value, "--json"});
  };
  EXPECT_EQ(JsonAt(run("320,320,0.625").out, "/outputs/0/values"), "[320,320,0.625]");
  EXPECT_EQ(JsonAt(run("320,320,0.625").out, "/outputs/0/dims"), "[1,3]");
  EXPECT_EQ(JsonAt(run("2.").out, "/outputs/0/dims"), "[1]");
  EXPECT_EQ(JsonAt(run("[[1, 2], [3, -4e1]]").out, "/outputs/0/values"), "[1,2,3,-40]");
  EXPECT_EQ(JsonAt(run("[[1, 2], [3, 4]]").out, "/outputs/0/dims"), "[2,2]");
  EXPECT_EQ(JsonAt(run("2,3").out, "/outputs/0/dims"), "[2,3]");  // random values
  for (const char* bad : {"[[1, 2], [3]]", "[1, [2]]", "[\"a\"]", "[1", "0.5,x"})
    EXPECT_EQ(run(bad).code, 2) << bad;
}

// Whichever input has the type.
TEST_F(InputsTest, CastIsSuggestedForTheInputThatTheOperatorReads) {
  Tensor number(std::vector<int64_t>{1}, CPU);
  number.mutable_data<int64_t>()[0] = 4;
  WriteNpy(dir_.path("i.npy"), number);
  const std::string net = dir_.Write("roots.pbtxt", R"(name: "roots" external_input: ["a", "b", "c"]
      external_output: "y" op { type: "Sqrt" input: "a" output: "d" }
      op { type: "Sqrt" input: "b" output: "e" } op { type: "Sqrt" input: "c" output: "f" }
      op { type: "Sum" input: ["d", "e", "f"] output: "y" })");
  for (const std::string wrong : {"a", "b", "c"}) {
    std::vector<std::string> args = {"run", "--predict-net", net};
    for (const std::string name : {"a", "b", "c"})
      args.insert(args.end(),
                  {"--input", name + "=" + (name == wrong ? dir_.path("i.npy") : "[9]")});
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                HasSubstr("; --cast float converts input \"" + wrong + "\", which is int64\n"));
    args.insert(args.end(), {"--cast", wrong + "=float"});
    EXPECT_THAT(RunCaffe2(args).out, HasSubstr("y  float [1]\n  8\n"));
  }
}

// By every command that reads inputs and looks at their types.
TEST_F(InputsTest, CastIsSuggestedByOtherCommandsToo) {
  Tensor number(std::vector<int64_t>{1}, CPU);
  number.mutable_data<int64_t>()[0] = 4;
  WriteNpy(dir_.path("i.npy"), number);
  const std::string net = dir_.Write("root.pbtxt", R"(name: "root" external_input: "x"
      external_output: "y" op { type: "Sqrt" input: "x" output: "y" })");
  const std::string input = "x=" + dir_.path("i.npy");
  const std::vector<std::string> commands[] = {
      {"bench", "--predict-net", net, "--iterations", "1", "--warmup", "0"},
      {"compare", net, net},
      {"gradients", "--predict-net", net, "--loss", "y", "--verify"},
      {"check", net}};
  for (std::vector<std::string> args : commands) {
    args.insert(args.end(), {"--input", input});
    const ProgramResult wrong = RunCaffe2(args);
    EXPECT_EQ(wrong.code, 1) << args[0];
    EXPECT_THAT(wrong.out + wrong.err,
                HasSubstr("; --cast float converts input \"x\", which is int64\n"))
        << args[0];
    args.insert(args.end(), {"--cast", "float"});
    EXPECT_EQ(RunCaffe2(args).code, 0) << args[0];
  }
}

TEST_F(InputsTest, CastConvertsArraysAndIsSuggested) {
  Tensor bytes(std::vector<int64_t>{1, 3}, CPU);
  for (int i = 0; i < 3; ++i) bytes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i + 1);
  WriteNpy(dir_.path("bytes.npy"), bytes);
  Tensor doubles(std::vector<int64_t>{1, 3}, CPU);
  for (int i = 0; i < 3; ++i) doubles.mutable_data<double>()[i] = i + 1;
  WriteNpy(dir_.path("doubles.npy"), doubles);
  for (const auto& [file, type] : {std::pair("bytes.npy", "uint8"), {"doubles.npy", "double"}}) {
    const std::vector<std::string> input = {"--input", "x=" + dir_.path(file)};
    const ProgramResult wrong = Run("run", kWeights, kFullyConnected, input);
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err,
                HasSubstr(MakeString("; --cast float converts input \"x\", which is ", type)));
    for (const char* cast : {"float", "x=float"}) {
      std::vector<std::string> args = input;
      args.insert(args.end(), {"--cast", cast, "--json"});
      EXPECT_EQ(JsonAt(Run("run", kWeights, kFullyConnected, args).out, "/outputs/0/values"),
                "[14,32]");
    }
  }
  EXPECT_THAT(Run("run", kWeights, kFullyConnected, {"--input", "x=1,3", "--cast", "flaot"}).err,
              HasSubstr("did you mean float?"));
}

TEST_F(InputsTest, AGitLfsPointerIsNamed) {
  const std::string pointer =
      dir_.Write("p.pb", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 15597\n");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", "--predict-net", pointer}, {"inspect", pointer}}) {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, AllOf(HasSubstr("it is a Git LFS pointer"), HasSubstr("git lfs pull")));
  }
}

}  // namespace
}  // namespace caffe2rt::test::inputs_test
