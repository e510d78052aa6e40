// Options and numbers that few command lines have: negative levels, shapes of scalars, steps within steps, signals of
// zeros, labels and inputs of 64 bits, examples of other types.
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::rare_options_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

class RareOptionsTest : public ProgramFolder {
 protected:
  template <class T>
  std::string ArrayOf(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<T>& values) const {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    dir_.Write(name, "");
    WriteNpy(dir_.path(name), tensor);
    return "DIR/" + name;
  }
};

// --- models of Caffe and of ONNX ---

TEST_F(RareOptionsTest, LevelsOfCaffeMayBeNegative) {
  dir_.Write("p.prototxt", R"(name: "p" input: "data" input_shape { dim: 1 }
      layer { name: "a" type: "Power" bottom: "data" top: "y" power_param { scale: 2 }
              include { min_level: -1 } }
      layer { name: "b" type: "Power" bottom: "data" top: "y" power_param { scale: 3 }
              include { max_level: -2 } })");
  for (const auto& [level, scale] :
       {std::pair("0", "2"), {"-1", "2"}, {"-2", "3"}, {"-2147483648", "3"}, {"2147483647", "2"}})
    EXPECT_THAT(Out({"run", "DIR/p.prototxt", "--input", "data=1.", "--level="s + level}),
                HasSubstr("y     float [1]\n  "s + scale + "\n"))
        << level;
  for (const char* level : {"-2147483649", "2147483648", "1.5", ""}) {
    const ProgramResult wrong =
        Run({"run", "DIR/p.prototxt", "--input", "data=1.", "--level="s + level});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.err, "caffe2: option --level is \""s + level +
                             "\", want a number from -2147483648 to 2147483647\n");
  }
}

TEST_F(RareOptionsTest, AScalarHasAnEmptyShape) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "y" })");
  const auto shape = [&](const std::string& dims) {
    Out({"convert", "DIR/net.pbtxt", "--input-shape", "x=" + dims, "--output", "DIR/m.onnx"});
    const std::string json = Out({"inspect", "DIR/m.onnx", "--json"});
    return JsonAt(json, "/nets/0/operators/0/output_shapes/0/dims");
  };
  EXPECT_EQ(shape(""), "[]");
  EXPECT_EQ(shape("2,3"), "[2,3]");
  EXPECT_EQ(shape("1"), "[1]");
  for (const char* text : {"x=1,", "x=,", "x=a", "x", "=1", "x=-1"}) {
    const ProgramResult wrong =
        Run({"convert", "DIR/net.pbtxt", "--input-shape", text, "--output", "DIR/m.onnx"});
    EXPECT_EQ(wrong.code, 2) << text;
    EXPECT_EQ(wrong.err, "caffe2: option --input-shape is \""s + text +
                             "\", want BLOB=DIMS, DIMS as 1,3,224,224\n");
  }
}

// A net for training states how its images are cropped and scaled. A shape that is known says more.
TEST_F(RareOptionsTest, ImagesAreCroppedAsANetOfCaffeStates) {
  dir_.Write("net.prototxt", R"(name: "n" layer { name: "data" type: "Data" top: "data" top: "label"
      transform_param { crop_size: 2 scale: 2 } data_param { batch_size: 1 source: "x" } }
      layer { name: "r" type: "ReLU" bottom: "data" top: "y" })");
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 8, .height = 6, .rgb = std::vector<uint8_t>(144, 10)});
  const struct {
    Words options;
    const char *shape, *source;
    const char* value = "20";
  } rows[] = {{{}, "[1,3,2,2]", "a.png (centre 2)"},
              {{"--crop", "3"}, "[1,3,3,3]", "a.png (centre 3)"},
              {{"--crop", "4x3"}, "[1,3,3,4]", "a.png (centre 4x3)"},
              {{"--crop", "0"}, "[1,3,6,8]", "a.png"},
              {{"--resize", "3"}, "[1,3,2,2]", "a.png (resized 8x6 -> 3, centre 2)"},
              {{"--scale", "3"}, "[1,3,2,2]", "a.png (centre 2)", "30"},
              {{"--mean", "4"}, "[1,3,2,2]", "a.png (centre 2)", "12"},
              {{"--input-shape", "data=1,3,4,5"}, "[1,3,4,5]", "a.png (centre 5x4)"},
              {{"--input-shape", "data=1,3,4,5", "--crop", "3"}, "[1,3,3,3]", "a.png (centre 3)"}};
  for (const auto& row : rows) {
    const std::string json =
        Out(Joined({"run", "DIR/net.prototxt", "--image", "DIR/a.png", "--json"}, row.options));
    EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\""s + row.source + "\"");
    EXPECT_EQ(JsonAt(json, "/outputs/0/dims"), row.shape) << row.source;
    EXPECT_EQ(JsonAt(json, "/outputs/0/values/0"), row.value) << row.source;
  }
}

// The output of a net that overwrites its input gets another name in ONNX.
TEST_F(RareOptionsTest, NotesOfAnExportArePrinted) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "x"
      op { type: "Abs" input: "x" output: "x" })");
  const ProgramResult result =
      Run({"convert", "DIR/net.pbtxt", "--input-shape", "x=2", "--output", "DIR/m.onnx"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "DIR/m.onnx\n");
  EXPECT_EQ(result.err,
            "caffe2: note: output \"x\" is called \"x_out\", because an input or a weight has its "
            "name\n");
}

// Files of NumPy give uint32 and uint64 as int64.
TEST_F(RareOptionsTest, InputsOfOnnxHaveTheTypesOfTheModel) {
  const struct {
    int number;  // of ONNX
    const char* name;
  } types[] = {{12, "uint32"}, {13, "uint64"}, {7, "int64"}};
  ArrayOf<int64_t>("x.npy", {2}, {3, 4000000000});
  for (const auto& type : types) {
    const std::string value = "type { tensor_type { elem_type: " + std::to_string(type.number) +
                              " shape { dim { dim_value: 2 } } } }";
    onnx::ModelProto model;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(ir_version: 8 opset_import { version: 17 } graph { name: "g" input { name: "x" )" +
            value + R"( } output { name: "y" )" + value +
            R"( } node { op_type: "Identity" input: "x" output: "y" } })",
        &model));
    dir_.Write("m.onnx", model.SerializeAsString());
    const std::string json =
        Out({"run", "DIR/m.onnx", "--input", "x=DIR/x.npy", "--fetch", "y", "--json"});
    EXPECT_EQ(JsonAt(json, "/inputs/0/type"), "\""s + type.name + " [2]\"");
    EXPECT_EQ(JsonAt(json, "/outputs/0/type"), "\""s + type.name + "\"");
    EXPECT_EQ(JsonAt(json, "/outputs/0/values"), "[3,4000000000]");
  }
}

// --- plans ---

TEST_F(RareOptionsTest, StepsAtAnyDepthFindTheNetWithoutAName) {
  for (const char* step :
       {R"(execution_step { network: "" })", R"(execution_step { substep { network: "" } })",
        R"(execution_step { substep { substep { network: "" } } })"}) {
    dir_.Write("the_plan.pbtxt", R"(name: "p" network {
        op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 }
             arg { name: "value" f: 3 } } } )"s +
                                     step);
    EXPECT_THAT(Out({"plan", "DIR/the_plan.pbtxt", "--fetch", "x"}),
                HasSubstr("x  float [1]\n  3\nplan "))
        << step;
  }
}

// --- compare ---

// The second array is the signal.
TEST_F(RareOptionsTest, ASignalOfZerosHasNoRatioToTheNoise) {
  Array("zero.npy", {2}, {0, 0});
  Array("one.npy", {2}, {1, 2});
  Array("half.npy", {2}, {1, 1.5});
  const auto snr = [&](const std::string& first, const std::string& second) {
    const ProgramResult result = Run({"compare", "DIR/" + first, "DIR/" + second});
    EXPECT_EQ(result.code, first == second ? 0 : 1);
    const std::vector<std::string> lines = absl::StrSplit(result.out, '\n');
    const std::vector<std::string> cells = absl::StrSplit(lines.at(1), ' ', absl::SkipEmpty());
    return cells.at(first == second ? 3 : 4);
  };
  EXPECT_EQ(snr("one.npy", "zero.npy"), "-Infinity");
  EXPECT_EQ(snr("zero.npy", "one.npy"), "0");
  EXPECT_EQ(snr("one.npy", "one.npy"), "equal");
  EXPECT_EQ(snr("zero.npy", "zero.npy"), "equal");
  const auto json = [&](const std::string& first, const std::string& second) {
    return Run({"compare", "DIR/" + first, "DIR/" + second, "--json"}).out;
  };
  EXPECT_EQ(json("one.npy", "zero.npy").find("snr_db"), std::string::npos);
  EXPECT_EQ(json("one.npy", "one.npy").find("snr_db"), std::string::npos);
  // The signal is 5, the noise 0.25: 10 log10(20).
  EXPECT_EQ(JsonAt(json("half.npy", "one.npy"), "/blobs/0/snr_db").substr(0, 8), "13.01029");
}

TEST_F(RareOptionsTest, AnArrayThatTheNetDoesNotHaveIsADifference) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Sqr" input: "x" output: "y" })");
  Tensor four(std::vector<int64_t>{1}, CPU);
  four.mutable_data<float>()[0] = 4;
  dir_.Write("a.npz", "");
  const auto compare = [&](const NamedTensors& arrays) {
    WriteNpz(dir_.path("a.npz"), arrays);
    return Run({"compare", "DIR/net.pbtxt", "DIR/a.npz", "--input", "x=[2]"});
  };
  const ProgramResult same = compare({{"y", four}});
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.out, HasSubstr("\n1 blob agrees (tolerance: "));
  const ProgramResult more = compare({{"y", four}, {"z", four}});
  EXPECT_EQ(more.code, 1);
  EXPECT_THAT(more.out, HasSubstr("\nonly in the second, DIR/a.npz: \"z\"\n1 of 2 blobs differ"));
  const ProgramResult other = compare({{"z", four}});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.out.find("blob  "), std::string::npos) << other.out;
  EXPECT_THAT(other.out, HasSubstr("only in the second, DIR/a.npz: \"z\"\n1 of 1 blob differs"));
}

// --- packed models and lists ---

TEST_F(RareOptionsTest, PackedModelsAndRangesAreMadeOnTheCpu) {
  Environment environment;
  environment.HideCuda();
  dir_.Write("net.pbtxt", R"(name: "n" device_option { device_type: 1 } external_input: "x"
      external_output: "y" op { type: "Sqr" input: "x" output: "y" })");
  const Words net = {"--predict-net", "DIR/net.pbtxt"};
  const std::string x = Array("x.npy", {1}, {3});
  EXPECT_EQ(Out(Joined({"pack", "DIR/p.c2"}, net)), "DIR/p.c2: 0 tensors\n");
  EXPECT_THAT(Out({"run", "--predict-net", "DIR/p.c2", "--input", "x=[3]"}), HasSubstr("\n  9\n"));
  Out(Joined({"quantize", "--input", "x=" + x, "--output-predict-net", "DIR/q.pbtxt"}, net));
  // Other commands report that the device is not there.
  const std::string warning =
      "caffe2: warning: net \"n\" asks for CUDA, which is not available: it runs on the CPU\n";
  EXPECT_EQ(Run(Joined({"run", "--input", "x=[3]"}, net)).err, warning);
  EXPECT_EQ(Run(Joined({"run", "--input", "x=[3]", "--device", "auto"}, net)).err, warning);
  EXPECT_EQ(Run(Joined({"run", "--input", "x=[3]", "--device", "cpu"}, net)).err, "");
}

// The init net fills x with zeros in place of data.
TEST_F(RareOptionsTest, APlaceholderOfAPackedModelMayBeMissingUntilItRuns) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Mul" input: ["x", "w"] output: "y" })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } }
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 }
           arg { name: "value" f: 3 } })");
  EXPECT_EQ(
      Out({"pack", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "DIR/p.c2"}),
      "DIR/p.c2: 1 tensor\n");
  EXPECT_EQ(Out({"check", "DIR/p.c2"}), "DIR/p.c2: net \"n\": fine\n");
  EXPECT_EQ(Out({"check", "DIR/p.c2", "--input", "x=2"}), "DIR/p.c2: net \"n\": fine\n");
  const ProgramResult only_w = Run({"check", "DIR/p.c2", "--input", "w=2"});
  EXPECT_EQ(only_w.code, 1);
  EXPECT_EQ(only_w.out,
            "DIR/p.c2: net \"n\": 1 error\n  error: operator 0: input \"x\" was not given\n");
  EXPECT_EQ(Run({"run", "--predict-net", "DIR/p.c2"}).code, 1);
  EXPECT_THAT(Out({"run", "--predict-net", "DIR/p.c2", "--input", "x=[5,7]"}),
              HasSubstr("\n  15 21\n"));
}

TEST_F(RareOptionsTest, LinesOfTheListOfOperatorsEndWithoutBlanks) {
  Environment environment;
  for (const char* columns : {"20", "40", "80", "130"}) {
    environment.Set("COLUMNS", columns);
    size_t lines = 0;
    for (const absl::string_view line : absl::StrSplit(Out({"ops"}), '\n', absl::SkipEmpty())) {
      EXPECT_NE(line.back(), ' ') << line;
      ++lines;
    }
    EXPECT_GT(lines, 500u);
  }
}

// Two blanks at least stand behind a type, however long it is. Those that only other operators create are not listed.
TEST_F(RareOptionsTest, ALineOfTheListBeginsWithAType) {
  Environment environment;
  std::string listed;
  for (const char* columns : {"20", "80", "200"}) {
    environment.Set("COLUMNS", columns);
    std::string types;
    size_t longest = 0;
    const Words lines = absl::StrSplit(Out({"ops"}), '\n', absl::SkipEmpty());
    for (const std::string& line : lines) {
      const std::string type = line.substr(0, line.find(' '));
      EXPECT_EQ(line.find_first_not_of(' ', type.size()), std::max<size_t>(type.size() + 2, 26))
          << line;
      longest = std::max(longest, type.size());
      types += type + "\n";
    }
    EXPECT_GT(longest, 26u);
    if (listed.empty()) listed = types;
    EXPECT_EQ(types, listed);
  }
  EXPECT_EQ(listed.find("rnn_internal"), std::string::npos);
  EXPECT_THAT(listed, HasSubstr("RecurrentNetwork\n"));
  EXPECT_THAT(Out({"ops", "rnn_internal_apply_link"}), HasSubstr("devices: CPU"));
}

// A description ends at its first full stop with a blank behind it, or at the end of its first line.
TEST_F(RareOptionsTest, AListedOperatorHasItsFirstSentence) {
  Environment environment;
  environment.Set("COLUMNS", "1000");
  const std::string list = "\n" + Out({"ops"});
  for (const auto& [type, sentence] :
       {std::pair("Add", "Y = A + B"),
        {"Abs", "y = |x|."},
        {"AccumulateHistogram",
         "Counts the elements in equal intervals between lower_bound and upper_bound"},
        {"LearningRate",
         "Computes the learning rate of an iteration n, base_lr times a multiplier:"}}) {
    const size_t begin = list.find("\n" + std::string(type) + " ") + 1;
    const std::string line = list.substr(begin, list.find('\n', begin) - begin);
    EXPECT_TRUE(line.ends_with("  "s + sentence)) << line;
  }
  EXPECT_EQ(list.find(". "), std::string::npos);
  // No line has a part of a description only.
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(list) - 1, lines(Out({"completion", "operators"})));
}

// The type has 26 columns and the device 11.
TEST_F(RareOptionsTest, ADescriptionHasTenColumnsAtLeast) {
  Environment environment;
  for (const auto& [columns, line] : {std::pair("20", "AccumulateHistogram       CPU"),
                                      {"46", "AccumulateHistogram       CPU"},
                                      {"47", "AccumulateHistogram       CPU        Counts ..."},
                                      {"48", "AccumulateHistogram       CPU        Counts t..."}}) {
    environment.Set("COLUMNS", columns);
    EXPECT_THAT("\n" + Out({"ops"}), HasSubstr("\n"s + line + "\n")) << columns;
  }
}

TEST_F(RareOptionsTest, OperatorsHaveTheirFileIn120Columns) {
  Environment environment;
  for (const auto& [columns, has_file] :
       {std::pair("119", false), {"120", true}, {"121", true}, {"80", false}}) {
    environment.Set("COLUMNS", columns);
    const std::string list = Out({"ops"});
    EXPECT_EQ(list.find(" operators/select/accuracy.cc ") != std::string::npos, has_file)
        << columns;
    const size_t begin = list.find("\nAccuracy ") + 1, end = list.find('\n', begin);
    EXPECT_LE(end - begin, std::stoul(columns));
    EXPECT_THAT(list.substr(begin, end - begin), HasSubstr("  Computes the fraction of rows "));
  }
}

TEST_F(RareOptionsTest, ATrainingHasOneNet) {
  const ProgramResult result =
      Run({"train", "DIR/t.pbtxt", "--predict-net", "DIR/n.pbtxt", "--loss", "loss", "--data",
           "DIR/d.minidb", "--output", "DIR/run"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "caffe2: argument \"DIR/t.pbtxt\" is unexpected; this command reads files "
            "from options, see --help\n");
}

// --- databases ---

TEST_F(RareOptionsTest, LabelsHave64Bits) {
  {
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("a.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    char key = 'a';
    for (const int64_t label : {int64_t{5000000000}, int64_t{-5000000000}, int64_t{2147483648}}) {
      TensorProtos record;
      record.add_protos()->set_data_type(TensorProto::INT64);
      record.mutable_protos(0)->add_int64_data(label);
      transaction->Put(std::string(1, key++), record.SerializeAsString());
    }
    transaction->Commit();
  }
  EXPECT_EQ(JsonAt(Out({"db", "info", "DIR/a.minidb", "--json"}), "/labels"),
            R"({"-5000000000":1,"2147483648":1,"5000000000":1})");
  EXPECT_THAT(Out({"db", "list", "DIR/a.minidb"}), HasSubstr("   5000000000  "));
}

// The bytes of a round are those of keys and values, of an operator those of its tensors.
TEST_F(RareOptionsTest, ThroughputCountsTheBytesThatAreRead) {
  Array("x.npy", {4, 5}, std::vector<float>(20, 1));
  ArrayOf<int64_t>("y.npy", {4}, {0, 1, 2, 3});
  Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/a.minidb"});
  size_t bytes = 0;
  const std::vector<std::string> records =
      absl::StrSplit(Out({"db", "list", "DIR/a.minidb", "--json"}), '\n', absl::SkipEmpty());
  ASSERT_EQ(records.size(), 4u);
  for (const std::string& record : records)
    bytes += std::stoul(JsonAt(record, "/bytes")) + JsonAt(record, "/key").size() - 2;
  const auto rounds = [&](const Words& more) {
    std::vector<std::string> found;
    for (const absl::string_view line : absl::StrSplit(
             Out(Joined({"db", "throughput", "DIR/a.minidb", "--repeat", "2", "--json"}, more)),
             '\n', absl::SkipEmpty())) {
      const std::string round(line);
      found.push_back(JsonAt(round, "/round") + ": " + JsonAt(round, "/records") + " " +
                      JsonAt(round, "/bytes"));
    }
    return found;
  };
  const std::string all = ": 4 " + std::to_string(bytes);
  EXPECT_EQ(rounds({}), (Words{"1" + all, "2" + all}));
  EXPECT_EQ(rounds({"--readers", "2"}), (Words{"1" + all, "2" + all}));
  // A record has five floats, and a label of four bytes.
  const std::string of_tensors = ": 4 " + std::to_string(4 * (5 * 4 + 4));
  EXPECT_EQ(rounds({"--batch-size", "2"}), (Words{"1" + of_tensors, "2" + of_tensors}));
  EXPECT_EQ(rounds({"--batch-size", "4"}), (Words{"1" + of_tensors, "2" + of_tensors}));
  EXPECT_EQ(rounds({"--batch-size", "3"}),
            (Words{"1: 6 " + std::to_string(6 * 24), "2: 6 " + std::to_string(6 * 24)}));
}

TEST_F(RareOptionsTest, NoDatabaseIsWrittenToStandardOutput) {
  const std::string x = Array("x.npy", {2}, {1, 2});
  for (const char* to : {"minidb", "leveldb", "lmdb"}) {
    const ProgramResult result = Run({"convert", x, "--to", to, "--output", "-"});
    EXPECT_EQ(result.code, 2) << to;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(
        result.err,
        "caffe2: option --output is \"-\", but a database is not written to standard output\n");
  }
  for (const char* to : {"npy", "npz", "tensorprotos"}) {
    const ProgramResult result = Run({"convert", x, "--to", to, "--output", "-"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out, "");
  }
}

// --- quantize ---

class RareExamplesTest : public RareOptionsTest {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: "Cast" input: "x" output: "f" arg { name: "to" i: 1 } }
        op { type: "Conv" input: ["f", "w"] output: "y" arg { name: "kernel" i: 1 } })");
    dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
        arg { name: "shape" ints: [1, 1, 1, 1] } arg { name: "values" floats: 3 } })");
  }
  // The line of the convolution.
  std::string Line(const Words& more) const {
    const std::string out = Out(Joined({"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net",
                                        "DIR/net.pbtxt", "--output-predict-net", "DIR/q.pbtxt"},
                                       more));
    const std::vector<std::string> lines = absl::StrSplit(out, '\n');
    const std::vector<std::string> cells = absl::StrSplit(lines.at(1), ' ', absl::SkipEmpty());
    return cells.at(2) + " to " + cells.at(3) + ", seen " + cells.at(4);
  }
};

// Ranges are wider by a quarter, of 16 examples by an eighth.
TEST_F(RareExamplesTest, RowsOfAnArrayAreExamples) {
  EXPECT_EQ(Line({"--input", "x=[[[[-8,2]]]]"}), "-10 to 2.5, seen 8");
  EXPECT_EQ(Line({"--input", "x=[[[[-8,16]]]]"}), "-10 to 20, seen 16");
  EXPECT_EQ(Line({"--input", "x=[[[[-8,-2]]]]"}), "-10 to 0, seen 8");
  std::vector<float> values(16, 1);
  values[3] = -8;
  values[11] = 4;
  Array("x.npy", {16, 1, 1, 1}, values);
  EXPECT_EQ(Line({"--input", "x=DIR/x.npy"}), "-9 to 4.5, seen 8");
  Array("x.npy", {1, 1, 4, 4}, values);
  EXPECT_EQ(Line({"--input", "x=DIR/x.npy"}), "-10 to 5, seen 8");
  EXPECT_EQ(Line({"--input", "x=DIR/x.npy", "--headroom", "0"}), "-8 to 4, seen 8");
}

// Each row of the archive is an example, of any type of numbers.
TEST_F(RareExamplesTest, RowsOfAnArchiveHaveAnyType) {
  const auto line = [&](auto example) {
    using T = decltype(example);
    Tensor x(std::vector<int64_t>{16, 1, 1, 1}, CPU);
    std::fill_n(x.mutable_data<T>(), 16, T{1});
    x.mutable_data<T>()[15] = T{64};
    dir_.Write("x.npz", "");
    WriteNpz(dir_.path("x.npz"), {{"x", x}});
    return Line({"--calibrate", "DIR/x.npz"});
  };
  EXPECT_EQ(line(float{}), "0 to 72, seen 64");
  EXPECT_EQ(line(double{}), "0 to 72, seen 64");
  EXPECT_EQ(line(int64_t{}), "0 to 72, seen 64");
  EXPECT_EQ(line(int32_t{}), "0 to 72, seen 64");
  EXPECT_EQ(line(uint8_t{}), "0 to 72, seen 64");
}

}  // namespace
}  // namespace caffe2rt::test::rare_options_test
