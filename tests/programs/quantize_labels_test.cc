// The examples and labels of `caffe2 quantize`: which line is whose class, and ranges of one sign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::quantize_labels_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

// The net has the scores x and -x, so that the class of a number above 0 is 0 and that of one below is 1.
class QuantizeLabelsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
    dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
        arg { name: "shape" ints: [2, 1, 1, 1] } arg { name: "values" floats: [1, -1] } })");
  }
  ProgramResult Quantize(const Words& more) const {
    return Run(Joined({"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
                       "--output-predict-net", "DIR/q.pbtxt"},
                      more));
  }
  // Three examples whose classes are 0, 1 and 0, in their order.
  void WriteExamples() const {
    Array("in/a b.npy", {1, 1, 1, 1}, {1});
    Array("in/c.npy", {1, 1, 1, 1}, {-2});
    Array("in/d.npy", {1, 1, 1, 1}, {4});
  }
};

TEST_F(QuantizeLabelsTest, ALineIsTheClassOfItsFileOrOfItsPosition) {
  WriteExamples();
  const struct {
    const char *labels, *percent, *json;
  } rows[] = {
      {"0\n1\n0\n", "100.00", "100"},
      {"1\n0\n1", "0.00", "0"},
      {"\n0\n\n 1 \n\t0\r\n\n", "100.00", "100"},
      {"a b.npy 0\nc.npy 1\nd.npy 0\n", "100.00", "100"},
      {"d.npy 0\nc.npy 1\na b.npy 0\n", "100.00", "100"},
      {"d.npy 1\nc.npy 0\na b.npy 1\n", "0.00", "0"},
      {"in/a b.npy 0\nsome/other/c.npy\t1\n  /d.npy   0 \n", "100.00", "100"},
      // Those of other files do not count; the last line for a file does.
      {"a b.npy 0\nnone.npy 7\nc.npy 0\nd.npy 0\nc.npy 1\n", "100.00", "100"},
      {"b.npy 1\na b.npy 0\nc.npy 1\nd.npy 0\n", "100.00", "100"},
  };
  for (const auto& row : rows) {
    dir_.Write("labels", row.labels);
    const Words options = {"--calibrate", "DIR/in", "--labels", "DIR/labels"};
    const ProgramResult text = Quantize(options);
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("\nf32: accuracy "s + row.percent + " %\n")) << row.labels;
    // Convolutions that are not quantized have the same accuracy.
    if (text.out.find("signal to noise") !=
        std::string::npos) {  // on processors with bytes or bf16
      EXPECT_THAT(text.out, HasSubstr("equal, accuracy "s + row.percent + " %, ")) << row.labels;
    }
    const std::string json = Quantize(Joined(options, {"--json"})).out;
    EXPECT_EQ(JsonAt(json, "/f32/accuracy"), row.json) << row.labels;
  }
}

TEST_F(QuantizeLabelsTest, LabelsThatDoNotFitAreErrors) {
  WriteExamples();
  const std::pair<const char*, const char*> rows[] = {
      {"a b.npy 0\nd.npy 0\n", "file \"DIR/labels\" has no line for \"DIR/in/c.npy\""},
      {"a b.npy 0\n1\nd.npy 0\n", "file \"DIR/labels\" has no line for \"DIR/in/c.npy\""},
      {"0\n\n1\nx\n", "line 4 of \"DIR/labels\" ends in \"x\", want the number of a class"},
      {"c.npy -1\n", "line 1 of \"DIR/labels\" ends in \"-1\", want the number of a class"},
      {"c.npy 1.5\n", "line 1 of \"DIR/labels\" ends in \"1.5\", want the number of a class"},
      {"\n \n", "file \"DIR/labels\" contains no labels"},
      {"0\n1\n",
       "labels, of which the examples need one for each row of the output: got 2, want 3"},
      {"0\n1\n2\n", "label 3 is 2, want a class below 2, the columns of output \"y\""}};
  for (const auto& [labels, error] : rows) {
    dir_.Write("labels", labels);
    const ProgramResult result = Quantize({"--calibrate", "DIR/in", "--labels", "DIR/labels"});
    EXPECT_EQ(result.code, 1) << labels;
    EXPECT_EQ(result.err, "caffe2: "s + error + "\n");
    EXPECT_FALSE(std::filesystem::exists(dir_.path("q.pbtxt"))) << labels;
  }
}

// Up to 4 examples have a headroom of 25 %. A range contains 0.
TEST_F(QuantizeLabelsTest, RangesOfOneSignBeginAtZero) {
  const struct {
    std::vector<float> values;
    const char *min, *max, *largest, *seen_min, *seen_max;
  } rows[] = {{{-5, -1}, "-6.25", "0", "5", "-5", "0"},
              {{1, 2}, "0", "2.5", "2", "0", "2"},
              {{-5, 3}, "-6.25", "3.75", "5", "-5", "3"}};
  for (const auto& row : rows) {
    Array("one/x.npy", {1, 1, 1, 2}, row.values);
    const Words options = {"--calibrate", "DIR/one"};
    const std::string json = Quantize(Joined(options, {"--json"})).out;
    EXPECT_EQ(JsonAt(json, "/operators/0/min"), row.min);
    EXPECT_EQ(JsonAt(json, "/operators/0/max"), row.max);
    EXPECT_EQ(JsonAt(json, "/operators/0/seen_min"), row.seen_min);
    EXPECT_EQ(JsonAt(json, "/operators/0/seen_max"), row.seen_max);
    EXPECT_THAT(json, Not(HasSubstr("snr_alone")));
    EXPECT_THAT(Quantize(Joined(options, {"--alone", "--json"})).out, HasSubstr("\"snr_alone\": "));
    const std::string text = Quantize(options).out;
    const size_t begin = text.find("Conv"), end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    while (line.find("  ") != std::string::npos) line.erase(line.find("  "), 1);
    EXPECT_EQ(line, "Conv "s + row.min + " " + row.max + " " + row.largest + " int8");
    EXPECT_THAT(text, HasSubstr("\n1 operator has ranges, measured on 1 example\n"));
  }
}

// Images of an array with several rows count as examples, each of them.
TEST_F(QuantizeLabelsTest, AnArrayHasAnExampleInEachRow) {
  Tensor x({3, 1, 1, 1}, CPU);
  for (const auto& [i, value] : {std::pair(0, 1.f), {1, -2.f}, {2, 4.f}})
    x.mutable_data<float>()[i] = value;
  WriteNpz(dir_.path("x.npz"), {{"x", x}});
  dir_.Write("labels", "0\n1\n0\n");
  const std::string json =
      Quantize({"--calibrate", "DIR/x.npz", "--labels", "DIR/labels", "--json"}).out;
  EXPECT_EQ(JsonAt(json, "/examples"), "3");
  EXPECT_EQ(JsonAt(json, "/operators/0/min"), "-2.5");
  EXPECT_EQ(JsonAt(json, "/operators/0/max"), "5");
  EXPECT_EQ(JsonAt(json, "/f32/accuracy"), "100");
}

// The elements of an archive may have another type.
TEST_F(QuantizeLabelsTest, ArraysOfExamplesAreCast) {
  Tensor x({2, 1, 1, 1}, CPU);
  x.mutable_data<int32_t>()[0] = -2;
  x.mutable_data<int32_t>()[1] = 4;
  WriteNpz(dir_.path("x.npz"), {{"x", x}});
  for (const Words& cast : {Words{"--cast", "float"}, Words{"--cast", "x=float"}}) {
    const std::string json = Quantize(Joined({"--calibrate", "DIR/x.npz", "--json"}, cast)).out;
    EXPECT_EQ(JsonAt(json, "/operators/0/seen_min"), "-2");
    EXPECT_EQ(JsonAt(json, "/operators/0/seen_max"), "4");
  }
  for (const Words& cast : {Words{}, Words{"--cast", "z=float"}})
    EXPECT_EQ(Quantize(Joined({"--calibrate", "DIR/x.npz"}, cast)).code, 1);
}

}  // namespace
}  // namespace caffe2rt::test::quantize_labels_test
