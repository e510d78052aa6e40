// Details of files that commands read and write: formats of tensors by option and by name, types of packed weights, reports
// of folders, and examples in rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::file_details_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

class FileDetailsTest : public ProgramFolder {
 protected:
  std::string Pixel(const std::string& name, uint8_t value) const {
    dir_.Write(name, "");
    SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {value, value, value}});
    return "DIR/" + name;
  }
};

// --- convert ---

TEST_F(FileDetailsTest, TheFormatOfTensorsIsThatOfTheOptionOrOfTheName) {
  Tensor a({2}, CPU);
  a.mutable_data<float>()[0] = 1.5f;
  a.mutable_data<float>()[1] = -2;
  dir_.Write("a.npz", "");
  WriteNpz(dir_.path("a.npz"), {{"a", a}});
  Array("b.npy", {1}, {7});
  dir_.Write("t.pbtxt", "protos { dims: 1 data_type: FLOAT float_data: 3 name: \"t\" }");
  const struct {
    const char *from, *name, *to, *kind;
  } rows[] = {{"a.npz", "o.npy", "", "npy"},
              {"a.npz", "o.npz", "", "npz"},
              {"b.npy", "o.npz", "", "npz"},
              {"a.npz", "o.tensorprotos", "", "TensorProtos"},
              {"a.npz", "o.pb", "", "TensorProtos"},
              {"a.npz", "o.pbtxt", "", "TensorProtos"},
              {"a.npz", "o.minidb", "", "minidb"},
              {"a.npz", "o.leveldb", "", "leveldb"},
              {"a.npz", "o.lmdb", "", "lmdb"},
              {"a.npz", "o", "npy", "npy"},
              {"a.npz", "o.npy", "npz", "npz"},
              {"a.npz", "o.npy", "tensorprotos", "TensorProtos"},
              {"a.npz", "o.npy", "binary", "TensorProtos"},
              {"a.npz", "o.npy", "text", "TensorProtos"},
              {"b.npy", "o.lmdb", "minidb", "minidb"},
              {"b.npy", "o.npz", "leveldb", "leveldb"},
              {"b.npy", "o.pb", "lmdb", "lmdb"},
              {"t.pbtxt", "o.npz", "", "npz"},
              {"t.pbtxt", "o.minidb", "", "minidb"},
              {"t.pbtxt", "o.pb", "npy", "npy"},
              {"t.pbtxt", "o.npz", "binary", "TensorProtos"},
              {"t.pbtxt", "o.npz", "text", "TensorProtos"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.from + " "s + row.name + " " + row.to);
    fs::remove_all(dir_.path(row.name));
    Words words = {"convert", "DIR/"s + row.from, "--output", "DIR/"s + row.name};
    if (*row.to != 0) words.insert(words.end(), {"--to", row.to});
    EXPECT_EQ(Out(words), "");
    const std::string json = Out({"inspect", "DIR/"s + row.name, "--json"});
    EXPECT_EQ(JsonAt(json, "/kind"), "\""s + row.kind + "\"");
    const std::string name = row.kind == "npy"s ? "" : std::string(1, *row.from);
    EXPECT_EQ(JsonAt(json, "/tensors/0/name").substr(0, 1 + name.size()), "\"" + name);
    EXPECT_EQ(JsonAt(json, "/tensors/0/dims"), *row.from == 'a' ? "[2]" : "[1]");
    const std::string bytes =
        row.kind == "TensorProtos"s ? ReadWholeFile(dir_.path(row.name)) : "";
    const bool is_text = row.to == "text"s || row.name == "o.pbtxt"s;
    EXPECT_EQ(bytes.find("float_data: ") != std::string::npos, is_text);
  }
}

TEST_F(FileDetailsTest, FilesOfOtherKindsAreNamed) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  Pixel("a.png", 7);
  Out({"pack", "--predict-net", "DIR/net.pbtxt", "DIR/p.c2"});
  const ProgramResult inspect = Run({"inspect", "DIR/a.png"});
  EXPECT_EQ(inspect.code, 1);
  EXPECT_THAT(inspect.err, HasSubstr("DIR/a.png\" is a PNG image"));
  EXPECT_THAT(inspect.err, HasSubstr(", want a net, a plan, tensors, a blob or a database; --as "
                                     "specifies the kind\n"));
  const ProgramResult convert = Run({"convert", "DIR/p.c2"});
  EXPECT_EQ(convert.code, 2);
  EXPECT_EQ(convert.err, "caffe2: want --output FOLDER for init_net.pb and predict_net.pb\n");
  // An image is an input like another.
  SaveImage(dir_.path("a.jpg"), {.width = 1, .height = 1, .rgb = {9, 9, 9}});
  for (const auto& [name, value] : {std::pair("a.png", "7"), {"a.jpg", "9"}}) {
    const std::string json = Out({"run", "--predict-net", "DIR/net.pbtxt", "--input",
                                  "x=DIR/"s + name, "--std", "0.5", "--json"});
    EXPECT_EQ(JsonAt(json, "/outputs/0/dims"), "[1,3,1,1]");
    EXPECT_EQ(JsonAt(json, "/outputs/0/values/0"), std::to_string(2 * std::stoi(value)));
    EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\""s + name + "\"");
  }
}

// --- packed models ---

// The indices of the weights are integers of 64 bits, which Gather accepts.
TEST_F(FileDetailsTest, PackedWeightsHaveTheirTypes) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "i"] external_output: "y"
      op { type: "Gather" input: ["x", "i"] output: "y" })");
  const auto check = [&](const std::string& fill) {
    dir_.Write("init.pbtxt", "op { type: \"" + fill +
                                 "\" output: \"i\" arg { name: \"shape\" ints: 2 } arg { name: "
                                 "\"values\" " +
                                 (fill == "GivenTensorFill" ? "floats" : "ints") + ": [1, 0] } }");
    Out({"pack", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "DIR/p.c2"});
    return Run({"check", "DIR/p.c2", "--input", "x=3,4"});
  };
  for (const char* fill : {"GivenTensorInt64Fill", "GivenTensorIntFill"}) {
    const ProgramResult fine = check(fill);
    EXPECT_EQ(fine.code, 0);
    EXPECT_EQ(fine.out, "DIR/p.c2: net \"n\": fine\n") << fill;
  }
  const std::string json = Out({"inspect", "DIR/p.c2", "--input", "x=3,4", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/0/output_shapes"),
            R"([{"type":"FLOAT","dims":[2,4]}])");
  EXPECT_EQ(JsonAt(json, "/nets/0/parameter_bytes"), "8");
  const ProgramResult floats = check("GivenTensorFill");
  EXPECT_EQ(floats.code, 1);
  EXPECT_THAT(floats.out, HasSubstr("1 error"));
}

// --- images ---

TEST_F(FileDetailsTest, AFolderHasAReportOfItsNet) {
  dir_.Write("net.pbtxt", R"(name: "r" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "y" })");
  Pixel("in/a.png", 1);
  Pixel("in/b.png", 2);
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--report",
                     "DIR/report.json"};
  Out(run);
  EXPECT_EQ(JsonAt(ReadWholeFile(dir_.path("report.json")), "/operators"),
            R"([{"type":"Abs","output":"y","device":"CPU"}])");
  // No file can be run, so that there is no net.
  fs::remove(dir_.path("report.json"));
  dir_.Write("in/a.png", "broken");
  dir_.Write("in/b.png", "broken");
  EXPECT_EQ(Run(run).code, 1);
  EXPECT_FALSE(fs::exists(dir_.path("report.json")));
}

TEST_F(FileDetailsTest, BothNetsAreComparedOnAnImage) {
  dir_.Write("one.pbtxt", R"(name: "a" external_input: "x" op { type: "Abs" input: "x" output: "y" })");
  dir_.Write("two.pbtxt", R"(name: "b" external_input: "x" op { type: "Sqr" input: "x" output: "y" })");
  const Words compare = {"compare", "DIR/one.pbtxt", "DIR/two.pbtxt", "--image",
                         Pixel("a.png", 3), "--json"};
  const ProgramResult other = Run(compare);
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(JsonAt(other.out, "/blobs/0/max_absolute"), "6");
  EXPECT_EQ(JsonAt(other.out, "/blobs/0/elements"), "3");
  // 3 / 3 = 1, which is its own square.
  EXPECT_EQ(Run(Joined(compare, {"--std", "3"})).code, 0);
  // With the passes, the image stays an input of both.
  EXPECT_EQ(Run(Joined(compare, {"--std", "3", "--optimize", "both"})).code, 0);
}

// --- quantize ---

// Ranges are wider by 50 percent divided by the root of the number of examples, at most by 25.
TEST_F(FileDetailsTest, RowsOfAnArrayAreExamples) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: [1, 1, 1, 1] } arg { name: "values" floats: 3 } })");
  const auto range = [&](const Words& more) {
    const std::string json = Out(Joined(
        {"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
         "--output-predict-net", "DIR/q.pbtxt", "--json"},
        more));
    return JsonAt(json, "/operators/0/max") + " of " + JsonAt(json, "/examples");
  };
  for (const auto& [rows, max] : {std::pair(1, "10"), {4, "10"}, {16, "9"}, {25, "8.8"}}) {
    std::vector<float> values(static_cast<size_t>(rows), 1);
    values.back() = 8;
    const std::string file = Array("x.npy", {rows, 1, 1, 1}, values);
    EXPECT_EQ(range({"--input", "x=" + file}), max + " of 1"s);
    Tensor x({rows, 1, 1, 1}, CPU);
    std::copy(values.begin(), values.end(), x.mutable_data<float>());
    dir_.Write("x.npz", "");
    WriteNpz(dir_.path("x.npz"), {{"x", x}});
    EXPECT_EQ(range({"--calibrate", "DIR/x.npz"}), max + " of "s + std::to_string(rows));
  }
}

}  // namespace
}  // namespace caffe2rt::test::file_details_test
