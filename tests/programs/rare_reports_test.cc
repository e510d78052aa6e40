// Fields of documents, warnings and lists that few commands print: nets and their memory as JSON, arities of operators,
// tables for other processors, passes that round, ranges of one example, words that a command lacks.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::rare_reports_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

using Fields = std::vector<std::pair<std::string, std::string>>;

class RareReportsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
  }
};

// --- inspect ---

// FC has 3 x 2 weights and 3 biases, and multiplies 4 x 2 x 3 times.
TEST_F(RareReportsTest, ADocumentOfANetHasItsCostsAndNames) {
  dir_.Write("net.pbtxt", R"(name: "n" type: "dag" external_input: ["x", "w", "b"]
      external_output: ["y", "z"] op { type: "FC" name: "fc" input: ["x", "w", "b"] output: "y" }
      op { type: "Nosuch" input: "y" output: "z" })");
  dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [3, 2] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } })");
  const std::string json = Out(
      {"inspect", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--input", "x=4,2", "--json"});
  const Fields fields = {
      {"/kind", "\"NetDef\""},
      {"/nets/0/name", "\"n\""},
      {"/nets/0/role", "\"\""},
      {"/nets/0/type", "\"dag\""},
      {"/nets/0/parameters", "9"},
      {"/nets/0/parameter_bytes", "36"},
      {"/nets/0/multiply_adds", "24"},
      {"/nets/0/activation_bytes", "48"},
      {"/nets/0/unknown_operators", "1"},
      {"/nets/0/external_input", R"(["x","w","b"])"},
      {"/nets/0/external_output", R"(["y","z"])"},
      {"/nets/0/operators/0/type", "\"FC\""},
      {"/nets/0/operators/0/name", "\"fc\""},
      {"/nets/0/operators/0/inputs", R"(["x","w","b"])"},
      {"/nets/0/operators/0/outputs", R"(["y"])"},
      {"/nets/0/operators/0/output_shapes", R"([{"type":"FLOAT","dims":[4,3]}])"},
      {"/nets/0/operators/0/parameters", "9"},
      {"/nets/0/operators/0/multiply_adds", "24"},
      {"/nets/0/operators/0/output_bytes", "48"},
      {"/nets/0/operators/1/output_shapes", R"([{"known":false}])"},
      {"/nets/0/operators/1/output_bytes", "0"},
      {"/nets/0/operators/1/problem", "\"no schema\""}};
  for (const auto& [at, value] : fields) EXPECT_EQ(JsonAt(json, at), value) << at;
  EXPECT_EQ(json.find("problem"), json.rfind("problem")) << "one operator has a problem";
}

// Each blob has 4096 bytes. Two of a, b and c are in use at once, y stays.
TEST_F(RareReportsTest, MemoryIsTheSameInADocumentAndInATable) {
  dir_.Write("net.pbtxt", R"(name: "m" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "a" } op { type: "Sqr" input: "a" output: "b" }
      op { type: "Abs" input: "b" output: "c" } op { type: "Sqr" input: "c" output: "y" })");
  const Words inspect = {"inspect", "DIR/net.pbtxt", "--memory", "--input", "x=1,1024"};
  const std::string json = Out(Joined(inspect, {"--json"}));
  const Fields fields = {
      {"prepared", "false"},     {"passes", "[]"},        {"weight_bytes", "0"},
      {"prepared_bytes", "0"},   {"input_bytes", "4096"}, {"arena_bytes", "8192"},
      {"own_bytes", "4096"},     {"scratch_bytes", "0"},  {"peak_bytes", "16384"},
      {"live_bytes", "8192"},    {"unknown", "[]"},       {"activation_bytes", "16384"},
      {"unknown_prepared", "[]"}};
  for (const auto& [name, value] : fields)
    EXPECT_EQ(JsonAt(json, "/nets/0/memory/" + name), value) << name;
  ASSERT_EQ(JsonSize(json, "/nets/0/memory/blobs"), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const std::string blob = absl::StrCat("/nets/0/memory/blobs/", i);
    EXPECT_EQ(JsonAt(json, blob + "/name"), "\""s + "abcy"[i] + "\"");
    EXPECT_EQ(JsonAt(json, blob + "/shape"), "\"float [1, 1024]\"");
    EXPECT_EQ(JsonAt(json, blob + "/bytes"), "4096");
    EXPECT_EQ(JsonAt(json, blob + "/planned"), i < 3 ? "true" : "false");
    EXPECT_EQ(JsonAt(json, blob + "/first_op"), std::to_string(i));
    EXPECT_EQ(JsonAt(json, blob + "/last_op"), std::to_string(i < 3 ? i + 1 : 3));
  }
  const std::string text = Out(inspect);
  for (const char* line :
       {"\n  weights                  0 B\n", "\n  inputs               4.0 KiB\n",
        "\n  activations          8.0 KiB  planned; at least 8.0 KiB are in use at once\n",
        "\n  outputs and others   4.0 KiB  activations with memory of their own\n",
        "\n  peak                16.0 KiB  the activations need 16.0 KiB without a plan\n",
        "  own  3 to 3\n"})
    EXPECT_THAT(text, HasSubstr(line));
  const std::string limited = Out(Joined(inspect, {"--limit", "3"}));
  EXPECT_THAT(limited, HasSubstr("\n  and 1 more, see --limit\n"));
  EXPECT_EQ(text.find("see --limit"), std::string::npos);
}

// --- ops ---

TEST_F(RareReportsTest, OperatorsHaveTheirNumbersOfInputsAndOutputs) {
  const struct {
    const char *type, *inputs, *outputs, *json;
  } rows[] = {{"Concat", "at least 1", "2", "1 2147483647 2 2"},
              {"Conv", "2 to 3", "1", "2 3 1 1"},
              {"Print", "1", "0", "1 1 0 0"},
              {"CreateMutex", "0", "1", "0 0 1 1"},
              {"Dropout", "1", "1 to 2", "1 1 1 2"},
              {"Allreduce", "at least 0", "at least 0", "0 2147483647 0 2147483647"}};
  for (const auto& row : rows) {
    const std::string json = Out({"ops", row.type, "--json"});
    EXPECT_EQ(JsonAt(json, "/0/min_inputs") + " " + JsonAt(json, "/0/max_inputs") + " " +
                  JsonAt(json, "/0/min_outputs") + " " + JsonAt(json, "/0/max_outputs"),
              row.json);
    const std::string text = Out({"ops", row.type});
    EXPECT_THAT(text, HasSubstr("\ninputs: "s + row.inputs + "\n"));
    EXPECT_THAT(text, HasSubstr("\noutputs: "s + row.outputs + "\n"));
  }
}

// --- options for all commands that run nets ---

TEST_F(RareReportsTest, ATableForAnotherProcessorHasNoEffect) {
  const std::string own = IsaName(CpuIsa()), other = own == "avx2" ? "avx512" : "avx2";
  const auto warning = [&](const std::string& rows) {
    dir_.Write("t.tsv", "# caffe2rt convolution table, version 1\n" + rows);
    const ProgramResult result = Run(
        {"run", "--predict-net", "DIR/copy.pbtxt", "--input", "x=[1]", "--tuning", "DIR/t.tsv"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("y  float [1]\n  1\n"));
    return result.err;
  };
  const std::string row = "\tNCHW\t1x4x6x6\t8\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t7.5\n";
  const std::string none =
      "caffe2: warning: file \"DIR/t.tsv\" has no row for the instruction set of this machine, " +
      own + ", and has no effect\n";
  EXPECT_EQ(warning(""), none);
  EXPECT_EQ(warning(other + row), none);
  EXPECT_EQ(warning(other + row + own + row), "");
  EXPECT_EQ(warning(own + row), "");
  EXPECT_EQ(warning("layouts\tonednn\n"), none);
  EXPECT_EQ(warning("layouts\tplain\n"), "");
}

TEST_F(RareReportsTest, PassesThatRoundAreNamed) {
  Environment environment;
  environment.Set("COLUMNS", "1000");
  std::string want;
  size_t width = 0;
  for (const NetPassInfo& pass : NetPasses())
    width = std::max(width, std::string(pass.name).size());
  for (const NetPassInfo& pass : NetPasses()) {
    want += "  "s + pass.name + std::string(width + 2 - std::string(pass.name).size(), ' ') +
            pass.doc + (pass.same_bits ? "\n" : " Results may be rounded differently.\n");
  }
  const std::string out = Out({"optimize", "--passes"});
  EXPECT_EQ(out, want);
  // Factors of a batch norm are multiplied into the weights; constants are what the net would compute.
  const auto line_of = [&](const std::string& pass) {
    const size_t begin = out.find("  " + pass + " ");
    return begin == out.npos ? "" : out.substr(begin, out.find('\n', begin) - begin);
  };
  EXPECT_THAT(line_of("fold_batch_norm"),
              testing::EndsWith(" Results may be rounded differently."));
  EXPECT_THAT(line_of("fold_constants"), testing::EndsWith(" runs."));
}

// --- quantize ---

// What was seen is -2 to 3. One example has a headroom of 25 %.
TEST_F(RareReportsTest, RangesAreWidenedByTheHeadroom) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [2, 2, 1, 1] } arg { name: "value" f: 2 } })");
  Array("x.npy", {1, 2, 1, 2}, {1, -2, 3, 0.5f});
  const Words quantize = {"quantize",      "--init-net",    "DIR/init.pbtxt",
                          "--predict-net", "DIR/net.pbtxt", "--output-predict-net",
                          "DIR/q.pbtxt",   "--input",       "x=DIR/x.npy"};
  const struct {
    Words options;
    const char *min, *max;
  } rows[] = {{{}, "-2.5", "3.75"},
              {{"--headroom", "0"}, "-2", "3"},
              {{"--headroom", "100"}, "-4", "6"},
              {{"--headroom", "1000"}, "-22", "33"}};
  for (const auto& row : rows) {
    const std::string json = Out(Joined(Joined(quantize, {"--json"}), row.options));
    const Fields fields = {{"/examples", "1"},
                           {"/operators/0/position", "0"},
                           {"/operators/0/type", "\"Conv\""},
                           {"/operators/0/min", row.min},
                           {"/operators/0/max", row.max},
                           {"/operators/0/seen_min", "-2"},
                           {"/operators/0/seen_max", "3"},
                           {"/put_back", "0"},
                           {"/f32/layers", "1"},
                           {"/f32/int8_layers", "0"}};
    for (const auto& [at, value] : fields) EXPECT_EQ(JsonAt(json, at), value) << at;
    const std::string net = ReadWholeFile(dir_.path("q.pbtxt"));
    EXPECT_THAT(net, HasSubstr("name: \"input_min\"\n    f: "s + row.min + "\n"));
    EXPECT_THAT(net, HasSubstr("name: \"input_max\"\n    f: "s + row.max + "\n"));
    const std::string table = Out(Joined(quantize, row.options));
    Words cells;
    for (const std::string& line : Words(absl::StrSplit(table, '\n'))) {
      if (line.find(" Conv ") == std::string::npos) continue;
      cells = absl::StrSplit(line, ' ', absl::SkipEmpty());
    }
    ASSERT_GE(cells.size(), 5u) << table;
    EXPECT_EQ(Words(cells.begin(), cells.begin() + 5), (Words{"0", "Conv", row.min, row.max, "3"}));
    EXPECT_THAT(table, HasSubstr("\n1 operator has ranges, measured on 1 example\n"));
  }
}

// Three examples, 1, -2 and 4: 4 or fewer have a headroom of 25 %. Class 0 is that of numbers above 0.
TEST_F(RareReportsTest, ExamplesAreTheSameOnEachWay) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: [2, 1, 1, 1] } arg { name: "values" floats: [1, -1] } })");
  const float values[] = {1, -2, 4};
  std::string list;
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = absl::StrCat("in/", i, ".npy");
    Array(name, {1, 1, 1, 1}, {values[i]});
    list += dir_.path(name) + "\n";
  }
  dir_.Write("list", list);
  Array("rows.npy", {3, 1, 1, 1}, {1, -2, 4});
  dir_.Write("rows.npz", "");
  WriteNpz(dir_.path("rows.npz"), {{"x", ReadNpy(dir_.path("rows.npy"))}});
  dir_.Write("right", "0\n1\n0\n");
  dir_.Write("wrong", "1\n1\n0\n");
  const std::pair<Words, const char*> ways[] = {{{"--calibrate", "DIR/in"}, "3"},
                                                {{"--calibrate", "DIR/rows.npz"}, "3"},
                                                {{"--image", "DIR/in"}, "3"},
                                                {{"--image-list", "DIR/list"}, "3"},
                                                {{"--input", "x=DIR/rows.npy"}, "1"}};
  for (const auto& [way, count] : ways) {
    SCOPED_TRACE(way[1]);
    const Words quantize = Joined({"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net",
                                   "DIR/net.pbtxt", "--output-predict-net", "DIR/q.pb", "--json"},
                                  way);
    const std::string json = Out(Joined(quantize, {"--labels", "DIR/right"}));
    const Fields fields = {{"/examples", count},           {"/operators/0/min", "-2.5"},
                           {"/operators/0/max", "5"},      {"/operators/0/seen_min", "-2"},
                           {"/operators/0/seen_max", "4"}, {"/f32/accuracy", "100"}};
    for (const auto& [at, value] : fields) EXPECT_EQ(JsonAt(json, at), value) << at;
    EXPECT_THAT(JsonAt(Out(Joined(quantize, {"--labels", "DIR/wrong"})), "/f32/accuracy"),
                testing::StartsWith("66.66"));
    EXPECT_EQ(Out(quantize).find("accuracy"), std::string::npos);
  }
  // A blob that the init net fills with zeros is no constant if examples are fed to it.
  dir_.Write("zeros.pbtxt", ReadWholeFile(dir_.path("init.pbtxt")) +
                                R"( op { type: "ConstantFill" output: "x"
                                    arg { name: "shape" ints: [1, 1, 1, 1] } })");
  for (const auto& [way, count] : ways) {
    const std::string json =
        Out(Joined({"quantize", "--init-net", "DIR/zeros.pbtxt", "--predict-net", "DIR/net.pbtxt",
                    "--output-predict-net", "DIR/q.pb", "--json", "--labels", "DIR/right"},
                   way));
    EXPECT_EQ(JsonAt(json, "/f32/accuracy"), "100") << way[1];
    EXPECT_EQ(JsonAt(json, "/operators/0/max"), "5") << way[1];
  }
}

TEST_F(RareReportsTest, AStreamOfImagesIsNoListOfExamples) {
  for (const char* name : {"a.png", "b.png"}) {
    dir_.Write(name, "");
    SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  }
  const std::string both =
      dir_.Write("both", ReadWholeFile(dir_.path("a.png")) + ReadWholeFile(dir_.path("b.png")));
  const ProgramResult result = RunCaffe2({"quantize", "--predict-net", dir_.path("copy.pbtxt"),
                                          "--image", "-", "--output-predict-net", dir_.path("q")},
                                         {.in = both});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "caffe2: option --image gives a stream, want files or a folder\n");
}

// --- arguments ---

TEST_F(RareReportsTest, WordsThatACommandLacksAreNamed) {
  const std::pair<Words, const char*> rows[] = {
      {{"completion"}, "want one shell: bash, zsh or fish, see --help"},
      {{"completion", "bash", "zsh"}, "argument \"zsh\" is unexpected, see --help"},
      {{"man", "run", "plan"}, "argument \"plan\" is unexpected, see --help"},
      {{"inspect"}, "want one file, see --help"},
      {{"inspect", "a", "b"}, "argument \"b\" is unexpected, see --help"},
      {{"plan"}, "want one plan file, see --help"},
      {{"plan", "a", "b"}, "argument \"b\" is unexpected, see --help"},
      {{"pack"}, "want a net and a file to write, see --help"},
      {{"pack", "--predict-net", "n"}, "want one file to write, see --help"},
      {{"pack", "--predict-net", "n", "a", "b"}, "argument \"b\" is unexpected, see --help"},
      {{"pack", "--predict-net", "n", "--output", "o", "a"},
       "argument \"a\" is unexpected; this command reads files from options, see --help"},
      {{"receipt"}, "want compare and two receipts, see --help"},
      {{"receipt", "compare", "a", "b", "c"}, "argument \"c\" is unexpected, see --help"},
      {{"run", "--predict-net", "n", "a"},
       "argument \"a\" is unexpected; this command reads files from options, see --help"},
      {{"run", "a.onnx", "b.onnx"}, "argument \"b.onnx\" is unexpected, see --help"}};
  for (const auto& [words, text] : rows) {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_EQ(result.err, "caffe2: "s + text + "\n");
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace caffe2rt::test::rare_reports_test
