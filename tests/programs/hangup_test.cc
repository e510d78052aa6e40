// Commands that SIGHUP ends, as a terminal that is closed sends it; what trainings, their plans and `caffe2 quantize`
// write and report with options that other tests do not give.
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/train.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::hangup_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class HangupTest : public ProgramFolder {
 protected:
  // y = w x with x = 1 and the label 4: the loss is (w - 4)^2 / 2.
  void MakeLine() const {
    Array("x.npy", {2, 1}, {1, 1});
    Array("y.npy", {2, 1}, {4, 4});
    Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/d.minidb"});
    dir_.Write("line.pbtxt", R"(
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        input { batch_size: 2 } optimizer { rate: 0.5 })");
  }
  RunDef Def() const {
    RunDef run;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        ReadWholeFile(dir_.path("run/run.pbtxt")), &run));
    return run;
  }
  // Runs a script of the shell in the folder; caffe2 is the program.
  ProgramResult Shell(const std::string& script) const {
    return RunProgram("/bin/sh", {"-c", "cd '" + dir_.path() + "' && caffe2='" +
                                            BuildPath(CAFFE2_PROGRAM) + "' && " + script});
  }
  // Runs a command in the background, sends it SIGHUP when a file exists and returns its output. The exit code is that
  // of the command.
  ProgramResult HangUp(const std::string& command, const std::string& file) const {
    return Shell("{ $caffe2 " + command + " & } ; p=$!; while ! test -e " + file +
                 " && kill -0 $p 2>/dev/null; do sleep 0.01; done; kill -HUP $p; wait $p");
  }
};

TEST_F(HangupTest, ATrainingSavesAndStatesHowItGoesOn) {
  MakeLine();
  const ProgramResult text = HangUp(
      "train line.pbtxt --data d.minidb --epochs 100000 --rate 2 --output run --keep 1000000",
      "run/checkpoint-2");
  EXPECT_EQ(text.code, 1) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, ContainsRegex("\nsaved run/checkpoint-[0-9]+; continue with: caffe2 train "
                                      "--resume run\n$"));
  EXPECT_THAT(text.out, Not(HasSubstr("trained")));
  EXPECT_FALSE(fs::exists(dir_.path("run/epoch")));
  const ProgramResult json = HangUp(
      "train line.pbtxt --data d.minidb --epochs 100000 --rate 2 --output again --json "
      "--keep 1000000",
      "again/checkpoint-2");
  EXPECT_EQ(json.code, 1) << json.err;
  EXPECT_EQ(JsonAt(json.out, "/interrupted"), "true");
  EXPECT_EQ(JsonAt(json.out, "/checkpoint"),
            "\"again/checkpoint-" + JsonAt(json.out, "/steps") + "\"");
}

// The net of the loop leaves a file in its first iteration.
constexpr char kEndless[] = R"(name: "long"
    network { name: "begin" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
      op { type: "ConstantFill" output: "i" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 10 } } }
    network { name: "n" op { type: "Copy" input: "x" output: "z" }
      op { type: "Checkpoint" input: "i" arg { name: "db" s: "begun_%d" }
           arg { name: "db_type" s: "minidb" } arg { name: "every" i: 2147483647 } }
      op { type: "Iter" input: "i" output: "i" } }
    network { name: "last" op { type: "Save" input: "z" arg { name: "db" s: "ended" }
      arg { name: "db_type" s: "minidb" } } }
    execution_step { network: "begin" }
    execution_step { name: "loop" network: "n" num_iter: 9223372036854775807 })";

TEST_F(HangupTest, APlanRunsItsLastNetAndStatesWhereItWas) {
  dir_.Write("plan.pbtxt", kEndless);
  const std::string where =
      "caffe2: plan \"long\" was interrupted by a signal in step \"loop\", iteration [0-9]+ of "
      "9223372036854775807";
  const ProgramResult plain = HangUp("plan plan.pbtxt", "begun_0");
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.err, ContainsRegex("^" + where + "\n$"));
  EXPECT_EQ(plain.out, "");
  fs::remove_all(dir_.path("begun_0"));
  const ProgramResult saved = HangUp("plan plan.pbtxt --on-interrupt last", "begun_0");
  EXPECT_EQ(saved.code, 1);
  EXPECT_THAT(saved.err, ContainsRegex("^" + where + "; net \"last\" has run\n$"));
  EXPECT_TRUE(fs::exists(dir_.path("ended")));
}

TEST_F(HangupTest, ARunEnds) {
  dir_.Write("net.pbtxt", R"(name: "waits"
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
      op { type: "Save" input: "x" arg { name: "db" s: "begun" } arg { name: "db_type" s: "minidb" } }
      op { type: "DequeueBlobs" input: "q" control_input: "x" output: "y" })");
  const ProgramResult result = HangUp("run --predict-net net.pbtxt", "begun");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with(
      "caffe2: the program was interrupted by a signal: net \"waits\", operator 3 (DequeueBlobs"))
      << result.err;
}

TEST_F(HangupTest, APlanOfFirstWeightsLoadsItsOwnCopy) {
  MakeLine();
  dir_.Write("init.pbtxt",
             R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [1, 1] }
      arg { name: "value" f: 2 } })");
  Out({"train", "DIR/line.pbtxt", "--data", "DIR/d.minidb", "--output", "DIR/first"});
  const ProgramResult written =
      Run({"train", "DIR/line.pbtxt", "--data", "DIR/d.minidb", "--output", "DIR/plan", "--init",
           "DIR/first/model.minidb", "--write-plan", "DIR/plan.pbtxt"});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.err, "");
  const std::string plan = ReadWholeFile(dir_.path("plan.pbtxt"));
  EXPECT_THAT(plan, HasSubstr("plan/init.minidb\""));
  EXPECT_THAT(plan, Not(HasSubstr("model.minidb")));
  EXPECT_TRUE(fs::exists(dir_.path("plan/init.minidb")));
  // The first step leaves w at 2, the second at 3.
  fs::remove_all(dir_.path("first"));
  EXPECT_THAT(Out({"plan", "DIR/plan.pbtxt", "--fetch", "w"}), HasSubstr("w  float [1, 1]\n  3\n"));
}

// Caffe2 opens the database of the test once, this library before each test. Both train the same.
TEST_F(HangupTest, APlanForCaffe2IsAnotherOne) {
  MakeLine();
  const auto plan = [&](const std::string& name, const Words& more) {
    const Words words = {"train",    "DIR/line.pbtxt", "--data",       "DIR/d.minidb",
                         "--test",   "DIR/d.minidb",   "--epochs",     "2",
                         "--output", "DIR/" + name,    "--write-plan", "DIR/" + name + ".pbtxt"};
    return Run(Joined(words, more));
  };
  EXPECT_EQ(plan("own", {}).code, 0);
  EXPECT_EQ(plan("theirs", {"--plan-for-caffe2"}).code, 0);
  const std::string own = ReadWholeFile(dir_.path("own.pbtxt")),
                    theirs = ReadWholeFile(dir_.path("theirs.pbtxt"));
  EXPECT_NE(absl::StrReplaceAll(own, {{"own", "theirs"}}), theirs);
  for (const char* name : {"own", "theirs"})  // 4 - 4 / 2^2
    EXPECT_THAT(Out({"plan", std::string("DIR/") + name + ".pbtxt", "--fetch", "w"}),
                HasSubstr("w  float [1, 1]\n  3\n"));
  const ProgramResult ranks =
      plan("none", {"--plan-for-caffe2", "--rank", "0", "--size", "2", "--store", "file:DIR/keys"});
  EXPECT_EQ(ranks.code, 1);
  EXPECT_THAT(ranks.err, HasSubstr("a plan for Caffe2 has one rank"));
  EXPECT_FALSE(fs::exists(dir_.path("none.pbtxt")));
}

TEST_F(HangupTest, FreshWeightsReplaceThoseOfTheInitNet) {
  MakeLine();
  dir_.Write("net.pbtxt", R"(name: "named" external_input: ["data", "w", "b"]
      op { type: "FC" input: ["data", "w", "b"] output: "y" })");
  dir_.Write("init.pbtxt", R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1] }
           arg { name: "values" floats: 2 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 1 } })");
  const auto first = [&](const Words& more) {
    fs::remove_all(dir_.path("run"));
    Out(Joined({"train", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--loss",
                "squared", "--rate", "0.5", "--data", "DIR/d.minidb", "--output", "DIR/run"},
               more));
    const std::string log = ReadWholeFile(dir_.path("run/log.jsonl"));
    return JsonAt(log.substr(0, log.find('\n')), "/loss");
  };
  EXPECT_EQ(first({}), "0.5");  // (2 + 1 - 4)^2 / 2
  EXPECT_EQ(Def().train().name(), "named");
  EXPECT_EQ(Def().train().net().name(), "named");
  // Biases are 0. The weight is drawn from -sqrt(3) to sqrt(3).
  const std::string drawn = first({"--fresh-weights", "--seed", "3"});
  EXPECT_NE(drawn, "0.5");
  EXPECT_GE(std::stod(drawn), 2.57);
  EXPECT_LE(std::stod(drawn), 16.43);
  EXPECT_NE(first({"--fresh-weights", "--seed", "4"}), drawn);
}

TEST_F(HangupTest, ClassesAreThoseBesideTheDataUnlessTheyAreGiven) {
  MakeLine();
  const auto classes = [&](const Words& more) {
    fs::remove_all(dir_.path("run"));
    Out(Joined({"train", "DIR/line.pbtxt", "--data", "DIR/d.minidb", "--output", "DIR/run"}, more));
    const InputDef input = Def().train().input();
    return Words(input.class_name().begin(), input.class_name().end());
  };
  EXPECT_EQ(classes({}), Words());
  dir_.Write("d.minidb.labels.txt", "cat\ndog\n");
  EXPECT_EQ(classes({}), (Words{"cat", "dog"}));
  dir_.Write("labels", "a\nb\nc\n");
  EXPECT_EQ(classes({"--labels", "DIR/labels"}), (Words{"a", "b", "c"}));
  std::string definition = ReadWholeFile(dir_.path("line.pbtxt"));
  definition.replace(definition.find("input { batch"), 7, "input { class_name: \"own\"");
  dir_.Write("line.pbtxt", definition);
  EXPECT_EQ(classes({}), Words{"own"});
  EXPECT_EQ(classes({"--labels", "DIR/labels"}), (Words{"a", "b", "c"}));
}

// Four rows with two scores each; the maximum of the last one is not where its label is.
class QuantizeReportTest : public HangupTest {
 protected:
  QuantizeReportTest() {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: "Conv" input: ["x", "w"] output: "y" name: "c1" arg { name: "kernel" i: 1 } })");
    dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
        arg { name: "shape" ints: [1, 1, 1, 1] } arg { name: "values" floats: 3 } })");
    Tensor x(std::vector<int64_t>{4, 1, 1, 2}, CPU);
    const float rows[] = {1, 2, 4, 3, 5, 6, 8, 7};
    std::copy_n(rows, 8, x.mutable_data<float>());
    WriteNpz(dir_.path("x.npz"), {{"x", x}});
    fs::create_directory(dir_.path("in"));
    for (int i = 0; i < 4; ++i)
      Array("in/" + std::to_string(i) + ".npy", {1, 1, 1, 2}, {rows[2 * i], rows[2 * i + 1]});
    dir_.Write("labels", "1\n0\n1\n1\n");
  }
  std::string Quantize(const Words& more) const {
    return Out(Joined({"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
                       "--output-predict-net", "DIR/q.pbtxt"},
                      more));
  }
};

// One channel is computed in float, so that nothing differs. The range is 8 and a quarter of it.
TEST_F(QuantizeReportTest, StatesNoiseAccuracyAndLayers) {
  const std::string head =
      "  op  operator   min  max  largest seen  at least\n"
      "   0  Conv \"c1\"    0   10             8  int8\n"
      "1 operator has ranges, measured on 4 examples\n";
  const std::string text = Quantize({"--calibrate", "DIR/x.npz"});
  EXPECT_TRUE(text.starts_with(head + "int8, filters of 8 bits: ")) << text;
  EXPECT_TRUE(text.ends_with("\nrun it with --precision int8, or auto\n"));
  EXPECT_THAT(text, ContainsRegex("\nint8, pair-limited filters: (signal to noise equal, 0 of 1 "
                                  "layer in int8, 0 in bf16|.*not.*|.*lacks.*|.*needs.*)\n"));
  EXPECT_THAT(text, ContainsRegex("\nbf16: (signal to noise equal, 0 of 1 layer in int8, 0 in "
                                  "bf16|not measured, the processor does not multiply it)\n"));
  const std::string labelled = Quantize({"--calibrate", "DIR/x.npz", "--labels", "DIR/labels"});
  EXPECT_TRUE(labelled.starts_with(head + "f32: accuracy 75.00 %\nint8, filters of 8 bits: "))
      << labelled;
  EXPECT_THAT(labelled,
              ContainsRegex("\nbf16: (signal to noise equal, accuracy 75\\.00 %, 0 of 1 layer in "
                            "int8, 0 in bf16|not measured, the processor does not multiply it)\n"));
  const std::string json = Quantize({"--calibrate", "DIR/x.npz", "--json"});
  EXPECT_EQ(JsonAt(json, "/f32"), R"({"snr":null,"layers":1,"int8_layers":0,"bf16_layers":0})");
  EXPECT_EQ(JsonAt(json, "/snr"), "null");
  EXPECT_EQ(JsonAt(json, "/put_back"), "0");
  EXPECT_EQ(
      JsonAt(Quantize({"--calibrate", "DIR/x.npz", "--labels", "DIR/labels", "--json"}), "/f32"),
      R"({"snr":null,"layers":1,"int8_layers":0,"bf16_layers":0,"accuracy":75})");
}

TEST_F(QuantizeReportTest, LabelsNameFilesInAnyOrderAndSpacing) {
  const auto accuracy = [&](const std::string& labels) {
    dir_.Write("labels", labels);
    return JsonAt(Quantize({"--calibrate", "DIR/in", "--labels", "DIR/labels", "--json"}),
                  "/f32/accuracy");
  };
  EXPECT_EQ(accuracy("1\n0\n1\n0\n"), "100");
  EXPECT_EQ(accuracy("1\n0\n1\n1\n"), "75");
  EXPECT_EQ(accuracy("3.npy 0\n1.npy\t0\n  some/folder/2.npy   1  \n\n0.npy \t 1\r\n"), "100");
  EXPECT_EQ(accuracy("3.npy 1\n1.npy 1\n2.npy 0\n0.npy 1\n"), "25");
}

}  // namespace
}  // namespace caffe2rt::test::hangup_test
