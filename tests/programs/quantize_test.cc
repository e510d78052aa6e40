// `caffe2 quantize`, and --precision int8 of `run`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::quantize_test {
namespace {

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
  EXPECT_THAT(result.out, HasSubstr("Conv \"c1\"   -1    5\n"));
  EXPECT_THAT(result.out, HasSubstr("1 operators have ranges, measured on 1 example\n"));
  const NetDef net = LoadNet(path);
  EXPECT_EQ(GetArgumentPtr(net.op(0), "input_min")->f(), -1);
  EXPECT_EQ(GetArgumentPtr(net.op(0), "input_max")->f(), 5);
  NetDef without = net;
  without.mutable_op(0)->mutable_arg()->DeleteSubrange(1, 2);
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
  EXPECT_EQ(JsonAt(result.out, "/operators/0/min"), "-1");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/float"), "false");  // one channel is not worth it
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
  EXPECT_EQ(JsonAt(low.out, "/operators/0/float"), "false");
  EXPECT_NE(JsonAt(low.out, "/snr"), "null");
  ASSERT_EQ(high.code, 0) << high.err;
  EXPECT_EQ(JsonAt(high.out, "/operators/0/float"), "true");
  EXPECT_EQ(JsonAt(high.out, "/snr"), "null");  // nothing differs any more
  const NetDef net = LoadNet(path);
  for (const OperatorDef& op : net.op()) {
    ASSERT_NE(GetArgumentPtr(op, "least_precision"), nullptr);
    EXPECT_EQ(GetArgumentPtr(op, "least_precision")->s(), "f32");
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

TEST_F(QuantizeProgramTest, WarnsOfANetWithoutRanges) {
  const ProgramResult result =
      Call("run", {"--input", Input("x.npy", 1, 2), "--precision", "int8"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the net states no ranges of inputs; caffe2 quantize"));
}

}  // namespace
}  // namespace caffe2rt::test::quantize_test
