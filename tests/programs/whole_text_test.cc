// What the programs print, as whole texts: a wrong number, unit, column, key or line fails.

#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::whole_text_test {
namespace {

// One output of each element type.
constexpr char kTypes[] = R"(
name: "types" external_input: "x" external_output: "f" external_output: "d" external_output: "i"
external_output: "l" external_output: "b" external_output: "u" external_output: "s" external_output: "h"
external_output: "q" external_output: "e" external_output: "n"
op { type: "GivenTensorFill" output: "f" arg { name: "shape" ints: 2 ints: 6 }
     arg { name: "values" floats: 0.5 floats: -1 floats: 2 floats: 1e-8 floats: 3 floats: 4 floats: 5
           floats: 6 floats: 7 floats: 8 floats: 9 floats: 10 } }
op { type: "GivenTensorDoubleFill" output: "d" arg { name: "shape" ints: 2 }
     arg { name: "values" floats: 0.25 floats: -3 } }
op { type: "GivenTensorIntFill" output: "i" arg { name: "shape" ints: 2 }
     arg { name: "values" ints: -5 ints: 7 } }
op { type: "GivenTensorInt64Fill" output: "l" arg { name: "shape" }
     arg { name: "values" ints: 9007199254740993 } }
op { type: "GivenTensorBoolFill" output: "b" arg { name: "shape" ints: 2 } arg { name: "values" ints: 0 ints: 1 } }
op { type: "Cast" input: "b" output: "u" arg { name: "to" i: 6 } }
op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 2 }
     arg { name: "values" strings: "a\"b" strings: "c\nd" } }
op { type: "FloatToHalf" input: "x" output: "h" }
op { type: "Int8Quantize" input: "x" output: "q" arg { name: "Y_scale" f: 0.5 } arg { name: "Y_zero_point" i: 3 } }
op { type: "ConstantFill" output: "e" arg { name: "shape" ints: 0 ints: 3 } }
op { type: "Negative" input: "x" output: "n" })";

constexpr char kTypesInputs[] = "x  float [3]   x.npy\n";

constexpr char kTypesOutputs[] = R"(f  float [2, 6]
  0.5 -1 2 1e-08 3 4 5 6 7 8 ...
d  double [2]
  0.25 -3
i  int32 [2]
  -5 7
l  int64 []
  9007199254740993
b  bool [2]
  0 1
u  uint8 [2]
  0 1
s  string [2]
  "a"b" "c\x0ad"
h  float16 [3]
  0 -2 1.5
q  quantized uint8 [3], scale 0.5, zero point 3
  3 0 6
e  float [0, 3]
n  float [3]
  -0 2 -1.5
)";

constexpr char kTypesJson[] =
    R"({"net": "types", "inputs": [{"name": "x", "type": "float [3]", "source": "x.npy"}], "outputs": [)"
    R"({"name": "f", "type": "float", "dims": [2, 6], "values": [0.5, -1, 2, 1e-08, 3, 4, 5, 6, 7, 8, 9, 10]}, )"
    R"({"name": "d", "type": "double", "dims": [2], "values": [0.25, -3]}, )"
    R"({"name": "i", "type": "int32", "dims": [2], "values": [-5, 7]}, )"
    R"({"name": "l", "type": "int64", "dims": [], "values": [9007199254740993]}, )"
    R"({"name": "b", "type": "bool", "dims": [2], "values": [false, true]}, )"
    R"({"name": "u", "type": "uint8", "dims": [2], "values": [0, 1]}, )"
    R"({"name": "s", "type": "string", "dims": [2], "values": ["a\"b", "c\nd"]}, )"
    R"({"name": "h", "type": "float16", "dims": [3], "values": [0, -2, 1.5]}, )"
    R"({"name": "q", "scale": 0.5, "zero_point": 3, "type": "uint8", "dims": [3], "values": [3, 0, 6]}, )"
    R"({"name": "e", "type": "float", "dims": [0, 3], "values": []}, )"
    R"({"name": "n", "type": "float", "dims": [3], "values": [-0, 2, -1.5]}])";

constexpr char kEndOfJson[] =
    R"(, "milliseconds": T, "threads": 1, "includes_preparation": true, )"
    R"("first_run_milliseconds": T, "prepared_weights": {"made": 0, "mapped": 0}})"
    "\n";
constexpr char kTime[] =
    "T ms per run, 1 thread, with the preparation of the first run (details: caffe2 bench)\n";

constexpr char kInit[] = R"(name: "init"
op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 ints: 3 ints: 3 ints: 3 } }
op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } }
op { type: "ConstantFill" output: "fw" arg { name: "shape" ints: 4 ints: 8 } }
op { type: "ConstantFill" output: "fb" arg { name: "shape" ints: 4 } })";
constexpr char kNet[] = R"(
name: "small" external_input: "x" external_input: "w" external_input: "b" external_input: "fw" external_input: "fb"
external_output: "p"
op { type: "Conv" name: "c1" input: "x" input: "w" input: "b" output: "c" arg { name: "kernel" i: 3 }
     arg { name: "pad" i: 1 } }
op { type: "Relu" input: "c" output: "c" }
op { type: "MaxPool" input: "c" output: "m" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
op { type: "FC" input: "m" input: "fw" input: "fb" output: "f" }
op { type: "Softmax" input: "f" output: "p" })";

class WholeTextTest : public ::testing::Test {
 protected:
  // A text with DIR for the folder of the test and T for times.
  std::string Plain(const std::string& text) const {
    std::string plain = absl::StrReplaceAll(text, {{dir_.path(""), "DIR/"}});
    plain = std::regex_replace(plain, std::regex("[0-9.]+ ms"), "T ms");
    return std::regex_replace(plain, std::regex("milliseconds\": [^,}]+"), "milliseconds\": T");
  }
  // The standard output of a command that succeeds without a word on stderr.
  std::string Text(const std::vector<std::string>& args, int code = 0) const {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.err, "");
    return Plain(result.out);
  }
  std::string Array(const std::string& name, std::vector<int64_t> dims,
                    const std::vector<float>& values) const {
    Tensor tensor(std::move(dims), CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  // `caffe2 run` on kTypes.
  std::string RunTypes(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"run", "--predict-net", dir_.Write("types.pbtxt", kTypes),
                                     "--input", "x=" + Array("x.npy", {3}, {0, -2, 1.5f})};
    args.insert(args.end(), more.begin(), more.end());
    return Text(args);
  }
  // `caffe2 inspect` on kNet.
  std::string Inspect(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"inspect",    dir_.Write("net.pbtxt", kNet),
                                     "--init-net", dir_.Write("init.pbtxt", kInit),
                                     "--input",    "x=1,3,4,4"};
    args.insert(args.end(), more.begin(), more.end());
    return Text(args);
  }
  const TempDir dir_;
};

TEST_F(WholeTextTest, RunPrintsAndWritesEveryElementType) {
  EXPECT_EQ(RunTypes({}), std::string(kTypesInputs) + kTypesOutputs + kTime);
  EXPECT_EQ(RunTypes({"--json"}), std::string(kTypesJson) + kEndOfJson);
}

// Each mean is the sum of the values above divided by their number.
TEST_F(WholeTextTest, StatsHaveARowForEveryValue) {
  EXPECT_EQ(RunTypes({"--stats"}),
            std::string(kTypesInputs) + kTypesOutputs +
                R"(  blob  written by                     min        max       mean  NaN
  x     input                           -2        1.5    -0.1667    0
  f     0 GivenTensorFill               -1         10      4.458    0
  d     1 GivenTensorDoubleFill         -3       0.25     -1.375    0
  i     2 GivenTensorIntFill            -5          7          1    0
  l     3 GivenTensorInt64Fill   9.007e+15  9.007e+15  9.007e+15    0
  b     4 GivenTensorBoolFill            0          1        0.5    0
  u     5 Cast                           0          1        0.5    0
  s     6 GivenTensorStringFill
  h     7 FloatToHalf                   -2        1.5    -0.1667    0
  q     8 Int8Quantize                -1.5        1.5          0    0
  e     9 ConstantFill                 NaN        NaN        NaN    0
  n     10 Negative                   -1.5          2     0.1667    0
)" + kTime);
  const std::string json = RunTypes({"--stats", "--json"});
  const size_t stats = json.find(", \"stats\": ");
  ASSERT_NE(stats, std::string::npos);
  EXPECT_EQ(json.substr(0, stats), kTypesJson);
  const auto row = [](const std::string& start, const std::string& rest) {
    return "{\"name\": \"" + start + ", \"min\": " + rest + ", \"infinite\": 0}, ";
  };
  EXPECT_EQ(
      json.substr(stats),
      ", \"stats\": [" +
          row(R"(x", "type": "float [3]", "elements": 3)",
              R"(-2, "max": 1.5, "mean": -0.16666666666666666, "nan": 0)") +
          row(R"(f", "operator": 0, "operator_type": "GivenTensorFill", "type": "float [2, 6]", "elements": 12)",
              R"(-1, "max": 10, "mean": 4.458333334166666, "nan": 0)") +
          row(R"(d", "operator": 1, "operator_type": "GivenTensorDoubleFill", "type": "double [2]", "elements": 2)",
              R"(-3, "max": 0.25, "mean": -1.375, "nan": 0)") +
          row(R"(i", "operator": 2, "operator_type": "GivenTensorIntFill", "type": "int32 [2]", "elements": 2)",
              R"(-5, "max": 7, "mean": 1, "nan": 0)") +
          row(R"(l", "operator": 3, "operator_type": "GivenTensorInt64Fill", "type": "int64 []", "elements": 1)",
              R"(9007199254740992, "max": 9007199254740992, "mean": 9007199254740992, "nan": 0)") +
          row(R"(b", "operator": 4, "operator_type": "GivenTensorBoolFill", "type": "bool [2]", "elements": 2)",
              R"(0, "max": 1, "mean": 0.5, "nan": 0)") +
          row(R"(u", "operator": 5, "operator_type": "Cast", "type": "uint8 [2]", "elements": 2)",
              R"(0, "max": 1, "mean": 0.5, "nan": 0)") +
          R"({"name": "s", "operator": 6, "operator_type": "GivenTensorStringFill", "type": "string [2]"}, )" +
          row(R"(h", "operator": 7, "operator_type": "FloatToHalf", "type": "float16 [3]", "elements": 3)",
              R"(-2, "max": 1.5, "mean": -0.16666666666666666, "nan": 0)") +
          row(R"(q", "operator": 8, "operator_type": "Int8Quantize", "type": "quantized uint8 [3], scale 0.5, )"
              R"(zero point 3", "elements": 3)",
              R"(-1.5, "max": 1.5, "mean": 0, "nan": 0)") +
          row(R"(e", "operator": 9, "operator_type": "ConstantFill", "type": "float [0, 3]", "elements": 0)",
              R"("NaN", "max": "NaN", "mean": "NaN", "nan": 0)") +
          R"({"name": "n", "operator": 10, "operator_type": "Negative", "type": "float [3]", "elements": 3, )"
          R"("min": -1.5, "max": 2, "mean": 0.16666666666666666, "nan": 0, "infinite": 0}])" +
          kEndOfJson);
}

// Blobs within the net are looked at for NaN if they are asked for by name.
TEST_F(WholeTextTest, WarnsOfNaNInOutputsAndFetchedBlobsAlone) {
  const std::vector<std::string> run = {"run", "--predict-net", dir_.Write("net.pbtxt", R"(
      name: "n" external_input: "x" external_output: "out"
      op { type: "Log" input: "x" output: "y" } op { type: "Abs" input: "x" output: "out" })"),
                                        "--input", "x=" + Array("x.npy", {2}, {-1, 1})};
  const std::string
      head = "x    float [2]   x.npy\n",
      out = "out  float [2]\n  1 1\n", y = "y    float [2]\n  NaN 0\n",
      all = "x    float [2]\n  -1 1\n",
      warning =
          "caffe2: warning: output \"y\" has NaN in 1 of 2 elements; the first is in blob \"y\", "
          "written by operator 0 (Log)\n";
  const struct {
    std::vector<std::string> options;
    std::string out, err;
  } cases[] = {
      {{}, head + out + kTime, ""},
      {{"--fetch", "y"}, head + out + y + kTime, warning},
      {{"--fetch", "all"}, head + all + y + out + kTime, ""},
      {{"--iterations", "3"}, head + out + "T ms per run, 1 thread (details: caffe2 bench)\n", ""}};
  for (const auto& row : cases) {
    std::vector<std::string> args = run;
    args.insert(args.end(), row.options.begin(), row.options.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(Plain(result.out), row.out);
    EXPECT_EQ(result.err, row.err);
  }
}

TEST_F(WholeTextTest, RowsOfProbabilitiesArePrintedByClass) {
  const std::string net = dir_.Write("soft.pbtxt", R"(
      name: "soft" external_input: "x" external_output: "p" op { type: "Softmax" input: "x" output: "p" })");
  std::vector<float> rows;
  for (int i = 0; i < 12; ++i) rows.insert(rows.end(), {0, 0, std::log(2.0f)});
  std::string want = "x  float [12, 3]   x.npy\np  float [12, 3]\n";
  for (int i = 0; i < 10; ++i) {
    want += "  row " + std::string(1, static_cast<char>('0' + i)) +
            "\n    0.500  class 2\n    0.250  class 0\n    0.250  class 1\n";
  }
  EXPECT_EQ(Text({"run", "--predict-net", net, "--input", "x=" + Array("x.npy", {12, 3}, rows)}),
            want + "  ... --top 5 prints all 12 rows\n" + kTime);
  const std::string two =
      "x=" + Array("two.npy", {2, 3}, {0, 0, std::log(2.0f), std::log(2.0f), 0, 0});
  EXPECT_EQ(Text({"run", "--predict-net", net, "--input", two, "--top", "2"}),
            std::string("x  float [2, 3]   two.npy\np  float [2, 3]\n"
                        "  row 0\n    0.500  class 2\n    0.250  class 0\n"
                        "  row 1\n    0.500  class 0\n    0.250  class 1\n") +
                kTime);
  const std::string labels = dir_.Write("labels.txt", "cat\r\ndog\nfish\n");
  EXPECT_EQ(Text({"run", "--predict-net", net, "--input", two, "--top", "1", "--labels", labels,
                  "--json"}),
            std::string(
                R"({"net": "soft", "inputs": [{"name": "x", "type": "float [2, 3]", "source": )"
                R"("two.npy"}], "outputs": [{"name": "p", "type": "float", "dims": [2, 3], "top": )"
                R"([[{"index": 2, "score": 0.5, "label": "fish"}], )"
                R"([{"index": 0, "score": 0.5, "label": "cat"}]]}])") +
                kEndOfJson);
}

TEST_F(WholeTextTest, BoxesAreSortedByScore) {
  const std::string net = dir_.Write("boxes.pbtxt", R"(
      name: "boxes" external_output: "b"
      op { type: "GivenTensorFill" output: "s" arg { name: "shape" ints: 3 }
           arg { name: "values" floats: 0.25 floats: 0.75 floats: 0.5 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 3 ints: 4 }
           arg { name: "values" floats: 0 floats: 1 floats: 2 floats: 3 floats: 4 floats: 5 floats: 6 floats: 7
                 floats: 8 floats: 9 floats: 10.25 floats: 11 } }
      op { type: "GivenTensorFill" output: "c" arg { name: "shape" ints: 3 }
           arg { name: "values" floats: 0 floats: 2 floats: 3 } })");
  const std::string labels = dir_.Write("labels.txt", "cat\ndog\nfish\n");
  const std::vector<std::string> run = {"run",      "--predict-net", net,          "--boxes",
                                        "--labels", labels,          "--box-blobs"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  EXPECT_EQ(Text(with({"s,b,c"})), std::string(R"(  box  score  class     x1   y1    x2    y2
    0  0.750  fish     4.0  5.0   6.0   7.0
    1  0.500  class 3  8.0  9.0  10.2  11.0
    2  0.250  cat      0.0  1.0   2.0   3.0
)") + kTime);
  const std::string json = Text(with({"s,b,c", "--top", "2", "--json"}));
  EXPECT_EQ(
      json.substr(json.find("\"boxes\": ")),
      std::string(R"("boxes": [{"score": 0.75, "class": 2, "label": "fish", "box": [4, 5, 6, 7]}, )"
                  R"({"score": 0.5, "class": 3, "label": "class 3", "box": [8, 9, 10.25, 11]}])") +
          kEndOfJson);
  const std::pair<std::vector<std::string>, std::pair<int, const char*>> wrong[] = {
      {with({"s,b"}),
       {2, "caffe2: option --box-blobs is \"s,b\", want SCORES,BOXES,CLASSES, with --boxes\n"}},
      {{"run", "--predict-net", net, "--box-blobs", "s,b,c"},
       {2, "caffe2: option --box-blobs is \"s,b,c\", want SCORES,BOXES,CLASSES, with --boxes\n"}},
      {{"run", "--predict-net", net, "--boxes"},
       {2,
        "caffe2: option --boxes is given, but the net has no operator BoxWithNMSLimit; want "
        "--box-blobs "
        "SCORES,BOXES,CLASSES\n"}},
      {with({"s,c,c"}),
       {1,
        "caffe2: the blobs of --boxes have the shapes [3], [3] and [3], want [N], [N, 4] and "
        "[N]\n"}},
      {with({"s,b,b"}),
       {1,
        "caffe2: the blobs of --boxes have the shapes [3], [3, 4] and [3, 4], want [N], [N, 4] and "
        "[N]\n"}}};
  for (const auto& [args, want] : wrong) {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, want.first);
    EXPECT_EQ(result.err, want.second);
  }
}

// A convolution has 2 * 3 * 3 * 3 + 2 parameters and 2 * 4 * 4 * 3 * 3 * 3 multiply-adds; FC has 4 * 8 + 4 and
// 4 * 8. Floats have 4 bytes; c is written twice, and counted once.
TEST_F(WholeTextTest, InspectShowsShapesAndCosts) {
  EXPECT_EQ(Inspect({}), R"(DIR/net.pbtxt: a NetDef
net "small", 5 operators
     type     output  shape               params  mult-adds  memory
  0  Conv     c       float [1, 2, 4, 4]      56        864   128 B
  1  Relu     c       float [1, 2, 4, 4]                      128 B
  2  MaxPool  m       float [1, 2, 2, 2]                       32 B
  3  FC       f       float [1, 4]            36         32    16 B
  4  Softmax  p       float [1, 4]                             16 B
total: 92 parameters (368 B), 896 multiply-adds, 192 B of output blobs
)");
  const auto op = [](const std::string& head, const std::string& dims, const std::string& costs) {
    return "{\"type\": \"" + head + "], \"output_shapes\": [{\"type\": \"FLOAT\", \"dims\": [" +
           dims + "]}], \"parameters\": " + costs + "}";
  };
  EXPECT_EQ(
      Inspect({"--json"}),
      R"({"file": "DIR/net.pbtxt", "kind": "NetDef", "nets": [{"name": "small", "role": "", "type": "", )"
      R"("parameters": 92, "parameter_bytes": 368, "multiply_adds": 896, "activation_bytes": 192, )"
      R"("unknown_operators": 0, "external_input": ["x", "w", "b", "fw", "fb"], "external_output": ["p"], )"
      R"("operators": [)" +
          op(R"(Conv", "name": "c1", "inputs": ["x", "w", "b"], "outputs": ["c")", "1, 2, 4, 4",
             R"(56, "multiply_adds": 864, "output_bytes": 128)") +
          ", " +
          op(R"(Relu", "name": "", "inputs": ["c"], "outputs": ["c")", "1, 2, 4, 4",
             R"(0, "multiply_adds": 0, "output_bytes": 128)") +
          ", " +
          op(R"(MaxPool", "name": "", "inputs": ["c"], "outputs": ["m")", "1, 2, 2, 2",
             R"(0, "multiply_adds": 0, "output_bytes": 32)") +
          ", " +
          op(R"(FC", "name": "", "inputs": ["m", "fw", "fb"], "outputs": ["f")", "1, 4",
             R"(36, "multiply_adds": 32, "output_bytes": 16)") +
          ", " +
          op(R"(Softmax", "name": "", "inputs": ["f"], "outputs": ["p")", "1, 4",
             R"(0, "multiply_adds": 0, "output_bytes": 16)") +
          "]}]}\n");
}

}  // namespace
}  // namespace caffe2rt::test::whole_text_test
