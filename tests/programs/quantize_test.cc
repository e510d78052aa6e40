// `caffe2 quantize`, and --precision int8 of `run`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::quantize_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kNet[] = R"(
name: "n" external_input: "x" external_input: "w" external_output: "y"
op { type: "Conv" input: "x" input: "w" output: "y" name: "c1" arg { name: "kernel" i: 1 } })";
constexpr char kInit[] = R"(
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
     arg { name: "values" floats: 3 } })";

class QuantizeProgramTest : public ::testing::Test {
 protected:
  ProgramResult Call(const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> args = {command, "--init-net", dir_.Write("init.pbtxt", kInit),
                                     "--predict-net", dir_.Write("net.pbtxt", kNet)};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  std::string Input(const std::string& name, float first, float second) {
    Tensor x(std::vector<int64_t>{1, 1, 1, 2}, CPU);
    x.mutable_data<float>()[0] = first;
    x.mutable_data<float>()[1] = second;
    WriteNpy(dir_.path(name), x);
    return "x=" + dir_.path(name);
  }
  TempDir dir_;
};

TEST_F(QuantizeProgramTest, WritesTheNetWithRanges) {
  const std::string path = dir_.path("int8.pbtxt");
  const ProgramResult result =
      Call("quantize", {"--input", Input("x.npy", -1, 5), "--output-predict-net", path});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Conv \"c1\"  -1.25  6.25"));
  EXPECT_THAT(result.out, HasSubstr("1 operator has ranges, measured on 1 example\n"));
  const NetDef net = LoadNet(path);
  EXPECT_EQ(GetArgumentPtr(net.op(0), "input_min")->f(), -1.25f);
  EXPECT_EQ(GetArgumentPtr(net.op(0), "input_max")->f(), 6.25f);
  NetDef without = net;
  without.mutable_op(0)->mutable_arg()->DeleteSubrange(1, 2);
  without.clear_arg();  // what was measured
  EXPECT_EQ(ProtoToText(without), ProtoToText(LoadNet(dir_.path("net.pbtxt"))));
}

TEST_F(QuantizeProgramTest, LosesNothingWhereBytesDoNotPay) {
  const std::string path = dir_.path("int8.pb");
  const ProgramResult result =
      Call("quantize", {"--input", Input("x.npy", -1, 5), "--output-predict-net", path, "--min-snr",
                        "200", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/examples"), "1");
  EXPECT_EQ(JsonSize(result.out, "/operators"), 1u);
  EXPECT_EQ(JsonAt(result.out, "/operators/0/min"), "-1.25");
  // One channel is not worth it.
  EXPECT_EQ(JsonAt(result.out, "/operators/0/least_precision"), "\"int8\"");
  EXPECT_EQ(JsonAt(result.out, "/snr"), "null");
}

TEST_F(QuantizeProgramTest, PutsOperatorsBackThatMakeTooMuchNoise) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  Tensor x(std::vector<int64_t>{1, 64, 28, 28}, CPU);
  for (int64_t i = 0; i < x.numel(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 997) / 1000;
  }
  WriteNpy(dir_.path("x.npy"), x);
  const std::string path = dir_.path("int8.pbtxt");
  const auto quantize = [&](const char* least) {
    return RunCaffe2({"quantize", "--init-net", dir_.Write("init.pbtxt", R"(
op { type: "UniformFill" output: "w" arg { name: "shape" ints: [64, 64, 3, 3] }
     arg { name: "min" f: -1 } arg { name: "max" f: 1 } })"),
                      "--predict-net", dir_.Write("net.pbtxt", R"(
name: "n" external_input: "x" external_input: "w" external_output: "y"
op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 3 } }
op { type: "Conv" input: "t" input: "w" output: "y" arg { name: "kernel" i: 3 } })"),
                      "--input", "x=" + dir_.path("x.npy"), "--output-predict-net", path,
                      "--min-snr", least, "--json"});
  };
  const ProgramResult low = quantize("20"), high = quantize("150");
  ASSERT_EQ(low.code, 0) << low.err;
  EXPECT_EQ(JsonAt(low.out, "/operators/0/least_precision"), "\"int8\"");
  EXPECT_NE(JsonAt(low.out, "/snr"), "null");
  ASSERT_EQ(high.code, 0) << high.err;
  EXPECT_THAT(JsonAt(high.out, "/operators/0/least_precision"), AnyOf("\"bf16\"", "\"f32\""));
  EXPECT_EQ(JsonAt(high.out, "/put_back"), "2");
  EXPECT_EQ(JsonAt(high.out, "/snr"), "null");  // nothing differs any more
  const NetDef net = LoadNet(path);
  for (const OperatorDef& op : net.op()) {
    ASSERT_NE(GetArgumentPtr(op, "least_precision"), nullptr);
    EXPECT_THAT(GetArgumentPtr(op, "least_precision")->s(), AnyOf("bf16", "f32"));
  }
}

TEST_F(QuantizeProgramTest, RejectsWhatIsNoExample) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--output-predict-net", dir_.path("q.pb")}, "want examples to measure ranges on"},
      {{"--output-predict-net", dir_.path("q.pb"), "--input", "x=1,1,1,2"},
       "want examples to measure ranges on"},
      {{"--input", Input("x.npy", 1, 2)}, "want --output-predict-net FILE"},
      {{"--input", Input("nan.npy", 1, NAN), "--output-predict-net", dir_.path("q.pb")},
       "not finite"}};
  for (const auto& [more, error] : cases) {
    const ProgramResult result = Call("quantize", more);
    EXPECT_NE(result.code, 0) << error;
    EXPECT_THAT(result.err, HasSubstr(error));
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.path("q.pb")));
}

// Four rows of an archive are four examples, of one number and its class.
TEST_F(QuantizeProgramTest, MeasuresAccuracyOfTheRowsOfAnArchive) {
  Tensor x(std::vector<int64_t>{4, 1, 1, 2}, CPU);
  const float rows[] = {1, 2, 4, 3, 5, 6, 8, 7};
  std::copy_n(rows, 8, x.mutable_data<float>());
  WriteNpz(dir_.path("x.npz"), {{"x", x}});
  const ProgramResult result =
      Call("quantize",
           {"--calibrate", dir_.path("x.npz"), "--labels", dir_.Write("labels.txt", "1\n0\n1\n1\n"),
            "--max-drop", "0.5", "--output-predict-net", dir_.path("q.pbtxt"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/examples"), "4");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/max"), "10");
  EXPECT_EQ(JsonAt(result.out, "/f32/accuracy"), "75");  // the last row has its maximum at 0
}

TEST_F(QuantizeProgramTest, NamesTheExampleThatIsBroken) {
  const std::string folder = dir_.path("examples");
  std::filesystem::create_directory(folder);
  const auto quantize = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--calibrate", folder, "--output-predict-net", dir_.path("q.pb")});
    return Call("quantize", more);
  };
  const ProgramResult empty = quantize({});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("contains no JPEG or PNG image and no .npy file"));
  Tensor x(std::vector<int64_t>{1, 1, 1, 2}, CPU);
  std::fill_n(x.mutable_data<float>(), 2, 1.0f);
  WriteNpy(folder + "/a.npy", x);
  Tensor other(std::vector<int64_t>{1, 2, 1, 2}, CPU);
  std::fill_n(other.mutable_data<float>(), 4, 1.0f);
  WriteNpy(folder + "/b.npy", other);
  const ProgramResult shape = quantize({});
  EXPECT_EQ(shape.code, 1);
  EXPECT_THAT(shape.err, HasSubstr("b.npy"));
  std::filesystem::remove(folder + "/b.npy");
  dir_.Write("examples/c.png", "no image");
  const ProgramResult broken = quantize({});
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("c.png"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path("q.pb")));
}

TEST_F(QuantizeProgramTest, ChoosesThePrecisionThatSuffices) {
  const std::string path = dir_.path("int8.pbtxt");
  ASSERT_EQ(Call("quantize", {"--input", Input("x.npy", -1, 5), "--output-predict-net", path}).code,
            0);
  const auto run = [&](const char* least) {
    return RunCaffe2({"run", "--init-net", dir_.path("init.pbtxt"), "--predict-net", path,
                      "--input", "x=" + dir_.path("x.npy"), "--precision", "auto", "--min-snr",
                      least});
  };
  EXPECT_EQ(run("150").err, "");  // one channel is computed in float
  NetDef net = LoadNet(path);
  net.clear_arg();
  *net.add_arg() = MakeArgument(kPairLimitedSnrArgument, 25.0f);
  dir_.Write("int8.pbtxt", ProtoToText(net));
  EXPECT_EQ(run("25").err, "");
  EXPECT_THAT(run("26").err, HasSubstr("of the wanted 26 dB of signal to noise, int8 has 25"));
  net.clear_arg();
  dir_.Write("int8.pbtxt", ProtoToText(net));
  EXPECT_THAT(run("10").err, HasSubstr("does not state what lower precisions cost"));
}

TEST_F(QuantizeProgramTest, WarnsOfANetWithoutRanges) {
  const ProgramResult result =
      Call("run", {"--input", Input("x.npy", 1, 2), "--precision", "int8"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the net states no ranges of inputs; caffe2 quantize"));
}

TEST_F(QuantizeProgramTest, NamesThePrecisionOfConvolutionsWithoutRanges) {
  // With an FC, which needs no range, precision int8 stays.
  const std::string init = dir_.Write("fc_init.pbtxt", std::string(kInit) + R"(
op { type: "GivenTensorFill" output: "fw" arg { name: "shape" ints: [2, 2] }
     arg { name: "values" floats: [1, 2, 3, 4] } }
op { type: "GivenTensorFill" output: "fb" arg { name: "shape" ints: [2] } arg { name: "values" floats: [0, 0] } })");
  const std::string net = dir_.Write("fc.pbtxt", R"(
name: "n" external_input: "x" external_input: "w" external_input: "fw" external_input: "fb" external_output: "z"
op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } }
op { type: "FC" input: "y" input: "fw" input: "fb" output: "z" })");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {
        "run",     "--init-net",         init,          "--predict-net", net,
        "--input", Input("x.npy", 1, 2), "--precision", "int8"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args).err;
  };
  const std::string instead = WhyNoBf16Convs().empty() ? "bf16" : "f32";
  EXPECT_THAT(run({}),
              HasSubstr("convolutions are computed in " + instead + ", because the net states no"));
  EXPECT_THAT(run({"--deterministic"}), HasSubstr("convolutions are computed in f32, because"));
  EXPECT_THAT(run({"--without-pass", "onednn_regions"}),
              HasSubstr("convolutions are computed in f32, because"));
}

}  // namespace
}  // namespace caffe2rt::test::quantize_test
