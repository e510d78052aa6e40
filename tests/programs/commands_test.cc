// The output and exit codes of the subcommands other than run and plan.

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::commands_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ProgramTest, PrintsItsVersion) {
  const ProgramResult result = RunCaffe2({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith("caffe2 (caffe2rt) "));
}

TEST(ProgramTest, SuggestsTheNearestCommand) {
  const ProgramResult result = RunCaffe2({"inspct"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(
      result.err,
      HasSubstr(
          "command \"inspct\" is not known (`caffe2 --help` lists all); did you mean inspect?"));
}

TEST(ProgramTest, WithoutArgumentsIsWrongUsage) {
  const ProgramResult result = RunCaffe2({});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.out, HasSubstr("usage: caffe2 COMMAND"));
}

class CheckProgramTest : public ::testing::Test {
 protected:
  ProgramResult Check(const std::string& net, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"check", dir_.Write("net.pbtxt", net)};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  TempDir dir_;
};

TEST_F(CheckProgramTest, ReportsFine) {
  const ProgramResult result =
      Check(R"(op { type: "Relu" input: "x" output: "y" } external_input: "x")");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("net \"net\": fine\n"));
}

TEST_F(CheckProgramTest, ListsEveryProblem) {
  const ProgramResult result = Check(R"(
      external_input: "x" external_output: "never"
      op { type: "Convv" input: "x" output: "a" }
      op { type: "DeformConv" input: "x" input: "x" output: "b" }
      op { type: "Relu" input: "x" input: "x" output: "c" }
      op { type: "Relu" input: "lost" output: "d" }
      op { type: "LeakyRelu" input: "x" output: "e" arg { name: "alpa" f: 1 } }
      op { type: "LeakyRelu" input: "x" output: "e" arg { name: "alpha" f: 1 } arg { name: "alpha" f: 2 } })");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("operator 0: operator type \"Convv\" is not known; close: Conv"),
            HasSubstr(
                "operator 1: operator type \"DeformConv\" is known to Caffe2 but not available"),
            HasSubstr("operator 2: operator Relu: it has 2 inputs, want 1"),
            HasSubstr("operator 3: op Relu: Source for input lost is unknown"),
            HasSubstr(
                "warning: operator 4: operator LeakyRelu: argument \"alpa\" is not known and has "
                "no effect; close: alpha"),
            HasSubstr("operator 5: operator LeakyRelu: "),
            HasSubstr("external_output \"never\" is not written by any operator")));
}

TEST_F(CheckProgramTest, NotesAreNoErrors) {
  Environment environment;
  environment.HideCuda();
  const ProgramResult result = Check(R"(
      type: "rnn" op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } } external_input: "x")");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("note: net type \"rnn\" runs as simple"),
                    HasSubstr("note: operator 0: asks for the device CUDA, which is not "
                              "available")));
}

TEST_F(CheckProgramTest, LooksIntoNestedNets) {
  const ProgramResult result = Check(R"(
      op { type: "If" input: "c" output: "y" arg { name: "then_net" n { op { type: "Yolo" output: "y" } } } })",
                                     {"--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/0/missing_operators"), R"(["Yolo"])");
}

TEST_F(CheckProgramTest, ChecksTheStepsOfAPlan) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(
      name: "p" network { name: "train" op { type: "Relu" input: "x" output: "y" } }
      execution_step { name: "s" network: "trains" num_iter: 2 should_stop_blob: "stop" })");
  const ProgramResult result = RunCaffe2({"check", plan});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("step \"s\": net \"trains\" is not in the plan; close: train"),
                    HasSubstr("num_iter is given with should_stop_blob")));
}

TEST_F(CheckProgramTest, GoesOnAfterAFileItCannotRead) {
  const std::string good =
      dir_.Write("good.pbtxt", R"(op { type: "Relu" input: "x" output: "y" } external_input: "x")");
  const std::string bad = dir_.Write("bad.pbtxt", "op { type: \"Relu\" input: }");
  const ProgramResult result = RunCaffe2({"check", bad, good});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, StartsWith("caffe2: "));
  EXPECT_THAT(result.out, HasSubstr("net \"good\": fine"));
}

TEST(InspectProgramTest, ShowsShapesParametersAndCosts) {
  const ProgramResult result = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--init-net",
                                          DemoFile("init_net.pb"), "--input", "data=1,3,64,64"});
  EXPECT_EQ(result.code, 0) << result.err;
  // 16 filters of 3 * 9 * 9 and 16 biases; 28 * 28 outputs per filter, 243 multiply-adds per
  // output.
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("float [1, 16, 28, 28]"), HasSubstr("3904"), HasSubstr("3048.2 k"),
                    HasSubstr("total: 3972 parameters (15.5 KiB)")));
  const ProgramResult json =
      RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--init-net", DemoFile("init_net.pb"),
                 "--input", "data=1,3,64,64", "--json"});
  // FC: 4 outputs of 16 multiply-adds each.
  constexpr int kMultiplyAdds = 28 * 28 * 16 * 243 + 4 * 16;
  EXPECT_EQ(JsonAt(json.out, "/nets/0/multiply_adds"), std::to_string(kMultiplyAdds));
}

TEST(InspectProgramTest, DrawsDotAndSvg) {
  const ProgramResult dot = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--dot", "-"});
  EXPECT_THAT(dot.out, AllOf(StartsWith("digraph \"stripes\" {"), HasSubstr("Conv  "),
                             HasSubstr("\\nresponses\""), HasSubstr(" -> ")));
  const TempDir dir;
  EXPECT_EQ(RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--svg", dir.path("net.svg")}).code,
            0);
  EXPECT_THAT(ReadWholeFile(dir.path("net.svg")),
              AllOf(StartsWith("<svg "), HasSubstr("Softmax"), HasSubstr("</svg>")));
}

TEST(InspectProgramTest, DrawsAllNetsWithoutWeights) {
  SKIP_WITHOUT_SHARED("models/c2_netdefs_only");
  for (const auto& entry :
       std::filesystem::directory_iterator(SharedPath("models/c2_netdefs_only"))) {
    if (entry.path().extension() == ".tsv") continue;
    const ProgramResult result = RunCaffe2({"inspect", entry.path().string(), "--svg", "-"});
    EXPECT_EQ(result.code, 0) << entry.path() << ": " << result.err;
    EXPECT_THAT(result.out, StartsWith("<svg "));
  }
}

TEST(InspectProgramTest, ShowsModelsOfOnnx) {
  SKIP_WITHOUT_SHARED("models/onnx_mnist_cntk/model.onnx");
  const ProgramResult result =
      RunCaffe2({"inspect", SharedPath("models/onnx_mnist_cntk/model.onnx")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("an ONNX model\nnet \"CNTKGraph\", 11 operators\n"));
}

TEST(ConvertProgramTest, GoesToTextAndBack) {
  const TempDir dir;
  ASSERT_EQ(
      RunCaffe2({"convert", DemoFile("predict_net.pb"), "--output", dir.path("net.pbtxt")}).code,
      0);
  EXPECT_THAT(ReadWholeFile(dir.path("net.pbtxt")), StartsWith("name: \"stripes\""));
  ASSERT_EQ(RunCaffe2({"convert", dir.path("net.pbtxt"), "--output", dir.path("net.pb")}).code, 0);
  EXPECT_EQ(ReadWholeFile(dir.path("net.pb")), ReadWholeFile(DemoFile("predict_net.pb")));
}

TEST(ConvertProgramTest, WarnsOfUnknownFieldsThatTextCannotHold) {
  const TempDir dir;
  const std::string net =
      dir.Write("net.pb", ReadWholeFile(DemoFile("predict_net.pb")) + "\xe8\x07\x05");
  const ProgramResult result = RunCaffe2({"convert", net, "-o", dir.path("net.pbtxt")});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: the text leaves out fields of file"));
  EXPECT_EQ(RunCaffe2({"check", dir.path("net.pbtxt")}).code, 0);
  for (const std::string name : {"net.pbtxt", "net.pb"}) {
    const ProgramResult text =
        RunCaffe2({"convert", net, "--to", "text", "--output", dir.path(name)});
    EXPECT_EQ(text.err, result.err);
    EXPECT_EQ(RunCaffe2({"convert", net, "--to", "binary", "--output", dir.path(name)}).err, "");
    EXPECT_EQ(ReadWholeFile(dir.path(name)), ReadWholeFile(net));
  }
  const ProgramResult binary = RunCaffe2({"convert", net, "-o", dir.path("again.pb")});
  EXPECT_EQ(binary.err, "");
  EXPECT_EQ(ReadWholeFile(dir.path("again.pb")), ReadWholeFile(net));
}

TEST(ConvertProgramTest, ReadsTheInputAsTheGivenKind) {
  const ProgramResult result =
      RunCaffe2({"convert", DemoFile("predict_net.pb"), "--as", "NetDeff"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean NetDef?"));
  EXPECT_EQ(RunCaffe2({"convert", DemoFile("labels.txt")}).code, 1);
  const ProgramResult two = RunCaffe2({"convert", DemoFile("predict_net.pb"), "copy.pb"});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("\"copy.pb\" is unexpected; want --output"));
}

TEST(ConvertProgramTest, WritesTheFormatThatTheOutputNameImplies) {
  const TempDir dir;
  const auto convert = [](const std::string& from, const std::string& to) {
    EXPECT_EQ(RunCaffe2({"convert", from, "-o", to}).code, 0);
    return ReadWholeFile(to);
  };
  const std::string text = convert(DemoFile("predict_net.pb"), dir.path("net.pbtxt"));
  EXPECT_THAT(text, HasSubstr("type: \"Conv\""));
  EXPECT_EQ(convert(dir.path("net.pbtxt"), dir.path("again.pbtxt")), text);
  const std::string binary = convert(dir.path("net.pbtxt"), dir.path("net.pb"));
  EXPECT_EQ(convert(dir.path("net.pb"), dir.path("again.pb")), binary);
  EXPECT_EQ(binary, ReadWholeFile(DemoFile("predict_net.pb")));
}

TEST(InspectProgramTest, KeepsOnlyBlobsOfTheNet) {
  const std::string net = DemoFile("predict_net.pb");
  const auto inspect = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"inspect", net});
    return RunCaffe2(args);
  };
  const ProgramResult wrong = inspect({"--memory", "--fetch", "respnoses"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("does not make blob \"respnoses\"; close: \"responses\""));
  EXPECT_EQ(inspect({"--memory", "--fetch", "responses"}).code, 0);
  EXPECT_EQ(inspect({"--memory", "--fetch", "data"}).code, 0);
  EXPECT_EQ(inspect({"--fetch", "responses"}).code, 2);
}

TEST(InspectProgramTest, NamesInputsWithoutAShapeInOneLine) {
  const ProgramResult result = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--memory"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr(" inputs without a shape (--input or --init-net): "),
                                HasSubstr("of unknown size, first ")));
  EXPECT_LT(std::count(result.out.begin(), result.out.end(), '\n'), 15) << result.out;
}

// These bytes are a NetDef {name, op {input}} and a PlanDef {name, network {name}}.
TEST(InspectProgramTest, ReadsAnAmbiguousFileAsTheGivenKind) {
  const TempDir dir;
  const std::string file = dir.Write("both.pb", std::string("\x0a\x01p\x12\x03\x0a\x01n", 8));
  EXPECT_THAT(RunCaffe2({"inspect", file, "--as", "NetDef"}).out, HasSubstr("net \"p\""));
  EXPECT_THAT(RunCaffe2({"inspect", file, "--as", "PlanDef"}).out, HasSubstr("plan \"p\""));
}

TEST(OpsProgramTest, ReportsInputsAndArgumentsOfAnOperator) {
  const ProgramResult result = RunCaffe2({"ops", "LeakyRelu"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("devices: CPU"), HasSubstr("source: operators/"),
                                HasSubstr("alpha: "), HasSubstr("(0.01)")));
}

TEST(OpsProgramTest, ReportsTheTypesAndRanksOfInputs) {
  EXPECT_THAT(RunCaffe2({"ops", "Gather"}).out, AllOf(HasSubstr("any type; rank 1 and more\n"),
                                                      HasSubstr("int32, int64; any rank\n")));
  EXPECT_THAT(RunCaffe2({"ops", "Relu"}).out, HasSubstr("\ninputs: 1\n"));
  EXPECT_THAT(RunCaffe2({"ops", "Sum"}).out, HasSubstr("\ninputs: at least 1\n"));
  const ProgramResult result = RunCaffe2({"ops", "Conv", "--json"});
  EXPECT_EQ(JsonAt(result.out, "/0/inputs/0/types"), "[\"float\"]");
  EXPECT_EQ(JsonAt(result.out, "/0/inputs/0/ranks"), "[3,4,5]");
}

TEST(OpsProgramTest, DistinguishesMissingFromUnknownTypes) {
  const ProgramResult missing = RunCaffe2({"ops", "DeformConv"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("known to Caffe2 but not available"));
  EXPECT_EQ(
      RunCaffe2({"ops", "Relu", "ATen"}).err,
      "caffe2: operator type \"ATen\" is known to Caffe2 but not available: it needs PyTorch's "
      "tensor library, which the library does not use (`caffe2 ops` lists all); did you mean "
      "Atan?\n");
  EXPECT_THAT(RunCaffe2({"ops", "Convv"}).err,
              HasSubstr("is not known (`caffe2 ops` lists all); did you mean Conv?"));
}

TEST(OpsProgramTest, ListsEveryOperatorOnALine) {
  const ProgramResult result = RunCaffe2({"ops"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("\nConv "), HasSubstr("\nRelu "), HasSubstr("\nSoftmax ")));
  // Types and devices are complete; descriptions end at the width of the terminal.
  EXPECT_THAT(result.out, HasSubstr("\nLeakyRelu                 CPU"));
  EXPECT_THAT(result.out, HasSubstr("...\n"));
}

// The first words of the lines.
std::vector<std::string> FirstWords(const std::string& text) {
  std::vector<std::string> words;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    words.emplace_back(line.substr(0, line.find(' ')));
  return words;
}

TEST(OpsProgramTest, TextJsonAndCompletionListTheSameOperators) {
  const std::vector<std::string> listed = FirstWords(RunCaffe2({"ops"}).out);
  EXPECT_GT(listed.size(), 300u);
  EXPECT_EQ(FirstWords(RunCaffe2({"completion", "operators"}).out), listed);
  const std::string json = RunCaffe2({"ops", "--json"}).out;
  ASSERT_EQ(JsonSize(json, ""), listed.size());
  const std::string entries = JsonAt(json, "");
  for (const std::string& type : listed)
    EXPECT_THAT(entries, HasSubstr("{\"type\":\"" + type + "\","));
}

// Operators that only other operators create.
TEST(OpsProgramTest, DescribesPrivateOperatorsButDoesNotListThem) {
  const ProgramResult result = RunCaffe2({"ops"});
  EXPECT_THAT(result.out, HasSubstr("\nLSTMUnit "));
  EXPECT_THAT(result.out, Not(HasSubstr("rnn_internal_")));
  EXPECT_THAT(RunCaffe2({"ops", "rnn_internal_apply_link"}).out,
              HasSubstr("rnn_internal_apply_link\n"));
}

TEST(PlanProgramTest, RunsStepsAndFetches) {
  const ProgramResult result =
      RunCaffe2({"plan", SourcePath("binaries/demo/doubling_plan.pbtxt"), "--fetch", "x"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("x  float [1]\n  1024\n"), HasSubstr("plan \"doubling\" done")));
}

TEST(PlanProgramTest, SavesFetchedBlobsInAnArchive) {
  const TempDir dir;
  const ProgramResult result =
      RunCaffe2({"plan", SourcePath("binaries/demo/doubling_plan.pbtxt"), "--fetch", "x", "--fetch",
                 "x", "--output", dir.path("x.npz")});
  EXPECT_EQ(result.code, 0) << result.err;
  const NamedTensors saved = ReadNpz(dir.path("x.npz"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].first, "x");
  EXPECT_EQ(saved[0].second.data<float>()[0], 1024);
}

TEST(PlanProgramTest, FailsWithTheNetsReason) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(
      name: "p" network { name: "n" op { type: "Relu" input: "x" output: "y" } } execution_step { network: "n" })");
  const ProgramResult result = RunCaffe2({"plan", plan});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("non-existing input blob: x"));
}

TEST(PlanProgramTest, WarnsOnceOfTooManyWorkers) {
  const TempDir dir;
  const std::string fill = R"(
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } })";
  const std::string few = R"( type: "dag" num_workers: 2)" + fill,
                    many = R"( type: "dag" num_workers: 3)" + fill;
  const auto warning = [](const std::string& net) {
    return "caffe2: warning: net \"" + net +
           "\" asks for 3 workers and gets the 2 threads of the pool: SetNumThreads or --threads "
           "sets their number\n";
  };
  for (const auto& [a, b, message] : {std::tuple(many, many, warning("a")),
                                      {many, fill, warning("a")},
                                      {fill, many, warning("b")},
                                      {few, many, warning("b")},
                                      {few, fill, ""}}) {
    const std::string plan = dir.Write(
        "plan.pbtxt", "name: \"p\" network { name: \"a\"" + a + "} network { name: \"b\"" + b +
                          "} execution_step { network: \"a\" network: \"b\" }");
    const ProgramResult result = RunCaffe2({"plan", plan, "--threads", "2"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, message);
    EXPECT_EQ(RunCaffe2({"plan", plan, "--threads", "3"}).err, "");
  }
}

TEST(DevicesProgramTest, ListsTheCpu) {
  const ProgramResult result = RunCaffe2({"devices"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith("CPU (device type 0): "));
}

TEST(DevicesProgramTest, ReportsTheLimitOfMemory) {
  const std::string json = RunCaffe2({"devices", "--json", "--memory-limit", "100M"}).out;
  EXPECT_EQ(JsonAt(json, "/0/name"), "\"CPU\"");
  EXPECT_EQ(JsonAt(json, "/0/memory_limit_bytes"), std::to_string(100 << 20));
  EXPECT_EQ(JsonAt(json, "/0/memory_bytes"),
            std::to_string(static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(sysconf(_SC_PAGESIZE))));
  EXPECT_THAT(RunCaffe2({"devices", "--memory-limit", "100M"}).out,
              HasSubstr("of which nets may use 100 MiB"));
}

// A process and those that it starts may be limited to some of the cores.
TEST(DevicesProgramTest, CoresAreThoseThatTheProgramMayUse) {
  cpu_set_t before, set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const absl::Cleanup restore = [&] { sched_setaffinity(0, sizeof(before), &before); };
  CPU_ZERO(&set);
  int cores = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && cores < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &set);
    ++cores;
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    EXPECT_EQ(JsonAt(RunCaffe2({"devices", "--json"}).out, "/0/cores"), std::to_string(cores));
    EXPECT_THAT(RunCaffe2({"devices"}).out,
                StartsWith(cores == 1 ? "CPU (device type 0): 1 core, "
                                      : "CPU (device type 0): 2 cores, "));
  }
}

TEST(DevicesProgramTest, ListsTheEnginesOfCollectives) {
  const std::string engine = "/0/collective_engines/0/";
  const std::string json = RunCaffe2({"devices", "--json"}).out;
  EXPECT_EQ(JsonAt(json, engine + "name"), "\"GLOO\"");
  const bool available = JsonAt(json, engine + "available") == "true";
  EXPECT_THAT(RunCaffe2({"devices"}).out,
              HasSubstr(available ? "engine GLOO of collectives: Gloo, transport tcp"
                                  : "collectives that name it fail"));
  EXPECT_EQ(json.find("\"detail\": ") != std::string::npos, available) << json;
}

TEST(DevicesProgramTest, PrintsWhyAnEngineOfCollectivesIsMissing) {
  Environment environment;
  environment.Set("CAFFE2_GLOO_MODULE", "/no/such/module.so");
  const ProgramResult result = RunCaffe2({"devices"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, ::testing::ContainsRegex("; collectives +that +name +it +fail\n"));
  const std::string engine = "/0/collective_engines/0", json = RunCaffe2({"devices", "--json"}).out;
  EXPECT_EQ(JsonAt(json, engine + "/available"), "false");
  EXPECT_THAT(JsonAt(json, engine + "/message"), HasSubstr("/no/such/module.so"));
  EXPECT_THAT(JsonAt(json, engine), Not(HasSubstr("\"detail\":")));
}

TEST(ProgramTest, RejectsFilesForCommandsWithoutAny) {
  EXPECT_EQ(RunCaffe2({"devices", "stray"}).code, 2);
  for (const char* name : {"plan", "check", "inspect", "convert"})
    EXPECT_EQ(RunCaffe2({name}).code, 2) << name;
}

}  // namespace
}  // namespace caffe2rt::test::commands_test
