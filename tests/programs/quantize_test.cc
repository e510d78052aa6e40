// `caffe2 quantize`, and --precision int8 of `run`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
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

TEST_F(QuantizeProgramTest, PutsOperatorsBackThatMakeTooMuchNoise) {
  const std::string path = dir_.path("int8.pb");
  const ProgramResult result =
      Call("quantize", {"--input", Input("x.npy", -1, 5), "--output-predict-net", path, "--min-snr",
                        "200", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/examples"), "1");
  EXPECT_EQ(JsonSize(result.out, "/operators"), 1u);
  EXPECT_EQ(JsonAt(result.out, "/operators/0/min"), "-1");
  // One channel is not worth int8, so nothing is lost.
  EXPECT_EQ(JsonAt(result.out, "/operators/0/float"), "false");
  EXPECT_EQ(JsonAt(result.out, "/snr"), "null");
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
