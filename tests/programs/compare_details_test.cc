// Details of `caffe2 compare` and `caffe2 bench --against`: names of single arrays, outputs that one net lacks, operators
// that occur several times, and which net a report is of.
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::compare_details_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class CompareDetailsTest : public ProgramFolder {
 protected:
  // Writes an archive of arrays of one element.
  void Archive(const std::string& name,
               const std::vector<std::pair<std::string, float>>& arrays) const {
    NamedTensors tensors;
    for (const auto& [array, value] : arrays) {
      Tensor tensor(std::vector<int64_t>{1}, CPU);
      tensor.mutable_data<float>()[0] = value;
      tensors.emplace_back(array, tensor);
    }
    dir_.Write(name, "");
    WriteNpz(dir_.path(name), tensors);
  }
  // The names of the blobs that both have, of the first, and of the second.
  std::string Names(const std::string& first, const std::string& second) const {
    const std::string json = Run({"compare", first, second, "--json"}).out;
    std::string names;
    for (size_t i = 0; i < JsonSize(json, "/blobs"); ++i)
      names += JsonAt(json, "/blobs/" + std::to_string(i) + "/name");
    return names + JsonAt(json, "/only_in_first") + JsonAt(json, "/only_in_second");
  }
};

TEST_F(CompareDetailsTest, AnArrayWithoutANameHasThatOfTheOtherOrOfItsFile) {
  const std::string a = Array("a.npy", {1}, {1}), b = Array("b.npy", {1}, {1});
  Archive("w.npz", {{"w", 1}});
  Archive("v.npz", {{"v", 1}});
  Archive("two.npz", {{"a", 1}, {"c", 1}});
  EXPECT_EQ(Names(a, b), R"("a"[][])");
  EXPECT_EQ(Names(a, "DIR/w.npz"), R"("w"[][])");
  EXPECT_EQ(Names("DIR/w.npz", a), R"("w"[][])");
  EXPECT_EQ(Names("DIR/w.npz", "DIR/v.npz"), R"(["w"]["v"])");
  EXPECT_EQ(Names(a, "DIR/two.npz"), R"("a"[]["c"])");
  EXPECT_EQ(Names("DIR/two.npz", a), R"("a"["c"][])");
  EXPECT_EQ(Names(b, "DIR/two.npz"), R"(["b"]["a","c"])");
}

// Files of a folder have other characters for those that a name of a file cannot have.
TEST_F(CompareDetailsTest, NamesOfAnArchiveAreThoseOfFilesBesideAFolder) {
  Array("in/a_b.npy", {1}, {1});
  Archive("one.npz", {{"a/b", 1}});
  Archive("other.npz", {{"a:b", 1}});
  EXPECT_EQ(Names("DIR/in", "DIR/one.npz"), R"("a_b"[][])");
  EXPECT_EQ(Names("DIR/one.npz", "DIR/in"), R"("a_b"[][])");
  Archive("one.npz", {{"a/b", 1}, {"c", 1}});
  EXPECT_EQ(Names("DIR/one.npz", "DIR/other.npz"), R"(["a/b","c"]["a:b"])");
}

// --- two nets ---

constexpr char kNet[] =
    R"(name: "n" external_input: "x" op { type: "Abs" input: "x" output: "y" } )";

TEST_F(CompareDetailsTest, AnOutputThatOneNetLacksIsADifference) {
  dir_.Write("one.pbtxt", kNet + "external_output: \"y\" "s);
  dir_.Write("more.pbtxt",
             kNet + R"(external_output: "z" op { type: "Sqr" input: "y" output: "z" })"s);
  dir_.Write("inner.pbtxt",
             kNet + R"(external_output: "y" op { type: "Sqr" input: "y" output: "z" })"s);
  const auto compare = [&](const std::string& first, const std::string& second,
                           const Words& more = {}) {
    return Run(Joined({"compare", "DIR/" + first, "DIR/" + second, "--input", "x=2"}, more));
  };
  for (const bool swapped : {false, true}) {
    const std::string other = swapped ? "more.pbtxt" : "one.pbtxt",
                      net = swapped ? "one.pbtxt" : "more.pbtxt";
    const ProgramResult result = compare(other, net);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.out, HasSubstr("only in the "s + (swapped ? "first" : "second") +
                                      ", DIR/more.pbtxt: \"z\"\n1 of 2 blobs differ"));
    EXPECT_THAT(result.out, Not(HasSubstr("first difference")));
    const std::string json = compare(other, net, {"--json"}).out;
    EXPECT_EQ(JsonAt(json, "/within"), "false");
    EXPECT_EQ(json.find("first_difference"), std::string::npos);
  }
  EXPECT_EQ(compare("one.pbtxt", "inner.pbtxt").code, 0);
  EXPECT_EQ(compare("inner.pbtxt", "one.pbtxt").code, 0);
}

TEST_F(CompareDetailsTest, TheReportIsOfTheSecondNetOrOfTheOnlyOne) {
  dir_.Write("one.pbtxt", kNet);
  dir_.Write("two.pbtxt",
             R"(name: "two" external_input: "x" op { type: "Abs" input: "x" output: "y" }
                op { type: "Sqr" input: "y" output: "z" })");
  const auto report = [&](const Words& words) {
    Run(Joined(Joined({"compare"}, words), {"--input", "x=[2]", "--report", "DIR/r.json"}));
    const std::string json = ReadWholeFile(dir_.path("r.json"));
    return JsonAt(json, "/net") + std::to_string(JsonSize(json, "/operators"));
  };
  EXPECT_EQ(report({"DIR/one.pbtxt", "DIR/two.pbtxt"}), "\"two\"2");
  EXPECT_EQ(report({"DIR/two.pbtxt", "DIR/one.pbtxt"}), "\"n\"1");
  EXPECT_EQ(report({"DIR/two.pbtxt", Array("z.npy", {1}, {4})}), "\"two\"2");
}

// The passes fuse the activation into the convolution, so that y is not written. The report is of the second net.
TEST_F(CompareDetailsTest, PassesApplyToTheNetsThatAreNamed) {
  dir_.Write("conv.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "z"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } }
      op { type: "Relu" input: "y" output: "z" })");
  const struct {
    Words options;
    const char *in_both, *first_only, *second_only, *passes;
  } rows[] = {{{}, "\"y\"\"z\"", "[]", "[]", "[]"},
              {{"--optimize", "none"}, "\"y\"\"z\"", "[]", "[]", "[]"},
              {{"--optimize", "first"}, "\"z\"", "[]", "[\"y\"]", "[]"},
              {{"--optimize", "second"}, "\"z\"", "[\"y\"]", "[]", "[\"fuse_activation\"]"},
              {{"--optimize", "both"}, "\"z\"", "[]", "[]", "[\"fuse_activation\"]"}};
  for (const auto& row : rows) {
    const ProgramResult result =
        Run(Joined({"compare", "DIR/conv.pbtxt", "DIR/conv.pbtxt", "--input", "x=1,2,3,3",
                    "--input", "w=2,2,1,1", "--report", "DIR/r.json", "--json"},
                   row.options));
    EXPECT_EQ(result.code, 0) << result.err;
    std::string names;
    for (size_t i = 0; i < JsonSize(result.out, "/blobs"); ++i)
      names += JsonAt(result.out, "/blobs/" + std::to_string(i) + "/name");
    EXPECT_EQ(names, row.in_both) << ::testing::PrintToString(row.options);
    EXPECT_EQ(JsonAt(result.out, "/only_in_first"), row.first_only);
    EXPECT_EQ(JsonAt(result.out, "/only_in_second"), row.second_only);
    EXPECT_EQ(JsonAt(ReadWholeFile(dir_.path("r.json")), "/passes"), row.passes);
  }
}

// Operators have their positions in the first net. |x| and -x differ by 2 for 1, and so do all values behind them: the
// signal of y is 1 + 4 and its noise 4, which is 10 log10(5 / 4) dB.
TEST_F(CompareDetailsTest, TheFirstOfSeveralDifferencesIsNamed) {
  dir_.Write("abs.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Abs" input: "x" output: "y" } op { type: "Exp" input: "y" output: "z" })");
  dir_.Write("negative.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Copy" input: "x" output: "c" } op { type: "Negative" input: "x" output: "y" }
      op { type: "Exp" input: "y" output: "z" })");
  const Words compare = {"compare", "DIR/abs.pbtxt", "DIR/negative.pbtxt", "--input",
                         "x=" + Array("x.npy", {2}, {1, -2})};
  const ProgramResult text = Run(compare);
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, HasSubstr("  !  y     0 Abs             2        2  0.9691       1   2  "
                                  "float [2]\n  !  z     1 Exp "));
  EXPECT_TRUE(text.out.ends_with(
      "\nonly in the second, DIR/negative.pbtxt: \"c\"\n3 of 3 blobs differ (tolerance: |first - "
      "second| <= 0.0001 + 0.0001 * |second|)\nfirst difference: blob \"y\", operator 0 (Abs)\n"))
      << text.out;
  const std::string json = Run(Joined(compare, {"--json"})).out;
  EXPECT_EQ(JsonAt(json, "/first_difference"),
            R"({"name":"y","operator":0,"operator_text":"Abs"})");
  for (const auto& [at, value] : {std::pair("0/first_operator", "0"),
                                  {"0/second_operator", "1"},
                                  {"1/first_operator", "1"},
                                  {"1/second_operator", "2"},
                                  {"0/max_absolute", "2"},
                                  {"0/max_relative", "2"},
                                  {"0/largest", "2"}})
    EXPECT_EQ(JsonAt(json, "/blobs/"s + at), value) << at;
}

// Of a second blob of zeros all is noise.
TEST_F(CompareDetailsTest, ARatioToNothingIsInfinite) {
  const std::string y = Array("y.npy", {2}, {1, -2}), zeros = Array("o.npy", {2}, {0, 0});
  EXPECT_THAT(Run({"compare", y, zeros}).out, HasSubstr("  -Infinity "));
  EXPECT_THAT(Run({"compare", y, y}).out, HasSubstr("  equal "));
  EXPECT_THAT(Run({"compare", zeros, zeros}).out, HasSubstr("  equal "));
  for (const std::string& other : {zeros, y})
    EXPECT_THAT(Run({"compare", y, other, "--json"}).out, Not(HasSubstr("snr_db")));
  EXPECT_THAT(Run({"compare", zeros, y, "--json"}).out, HasSubstr("\"snr_db\": 0"));
}

TEST_F(CompareDetailsTest, NumbersOfAnyTypeAreComparedOnDemand) {
  dir_.Write("copy.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Copy" input: "x" output: "y" })");
  dir_.Write("cast.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Cast" input: "x" output: "y" arg { name: "to" i: 2 } })");
  const std::string input = "x=" + Array("x.npy", {2}, {1, -2});
  for (const std::string second : {"DIR/cast.pbtxt", "DIR/copy.pbtxt", "DIR/y.npy"}) {
    Tensor y(std::vector<int64_t>{2}, CPU);
    y.mutable_data<int32_t>()[0] = 1;
    y.mutable_data<int32_t>()[1] = -2;
    WriteNpy(dir_.path("y.npy"), y);
    const Words compare = {"compare", "DIR/copy.pbtxt", second, "--input", input};
    const bool same = second == "DIR/copy.pbtxt";
    const ProgramResult typed = Run(compare);
    EXPECT_EQ(typed.code, same ? 0 : 1) << second;
    EXPECT_EQ(typed.out.find("\nblob \"y\": type float instead of int32\n") == std::string::npos,
              same)
        << typed.out;
    EXPECT_EQ(Run(Joined(compare, {"--any-type"})).code, 0) << second;
  }
}

// A file of another name is the output, if there is only one.
TEST_F(CompareDetailsTest, AnArrayOfAnyNameIsTheOnlyOutput) {
  dir_.Write("one.pbtxt", R"(name: "n" external_input: "x" external_output: "z"
      op { type: "Abs" input: "x" output: "y" } op { type: "Sqr" input: "x" output: "z" })");
  dir_.Write("two.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      external_output: "z" op { type: "Abs" input: "x" output: "y" }
      op { type: "Sqr" input: "x" output: "z" })");
  const std::string input = "x=" + Array("x.npy", {2}, {1, -2});
  const auto compare = [&](const std::string& net, const std::string& file) {
    return Run({"compare", "DIR/" + net, file, "--input", input});
  };
  const std::string any = Array("any.npy", {2}, {1, 4});
  EXPECT_EQ(compare("one.pbtxt", any).code, 0);
  const ProgramResult two = compare("two.pbtxt", any);
  EXPECT_EQ(two.code, 1);
  EXPECT_THAT(two.out, HasSubstr("only in the second, DIR/any.npy: \"any\"\n"));
  EXPECT_EQ(compare("two.pbtxt", Array("z.npy", {2}, {1, 4})).code, 0);
  EXPECT_EQ(compare("one.pbtxt", Array("y.npy", {2}, {1, 2})).code, 0);
  // An array that the net does not write is a difference, whatever the others are.
  Archive("golden.npz", {{"w", 1}});
  EXPECT_EQ(compare("one.pbtxt", "DIR/golden.npz").code, 1);
}

// One number is both tolerances.
TEST_F(CompareDetailsTest, TheTolerancesAreReported) {
  const std::string a = Array("a.npy", {2}, {1, 8}), b = Array("b.npy", {2}, {1, 10});
  const struct {
    std::string tol, absolute, relative;
    int code;
  } rows[] = {{"", "0.0001", "0.0001", 1},  {"2", "2", "2", 0},
              {"0.25", "0.25", "0.25", 0},  {"0.5,0.25", "0.5", "0.25", 0},
              {"0,0.125", "0", "0.125", 1}, {"1.5,0", "1.5", "0", 1},
              {"2,0", "2", "0", 0}};
  for (const auto& row : rows) {
    Words compare = {"compare", a, b};
    if (!row.tol.empty()) compare.insert(compare.end(), {"--tol", row.tol});
    const ProgramResult text = Run(compare), json = Run(Joined(compare, {"--json"}));
    EXPECT_EQ(text.code, row.code) << row.tol;
    EXPECT_EQ(json.code, row.code);
    EXPECT_THAT(text.out, HasSubstr("(tolerance: |first - second| <= " + row.absolute + " + " +
                                    row.relative + " * |second|)\n"));
    EXPECT_EQ(std::stod(JsonAt(json.out, "/absolute_tolerance")), std::stod(row.absolute));
    EXPECT_EQ(std::stod(JsonAt(json.out, "/relative_tolerance")), std::stod(row.relative));
  }
}

// What an init net fills is replaced by an input, in both nets.
TEST_F(CompareDetailsTest, BothNetsHaveTheInputsThatAreGiven) {
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 }
      arg { name: "value" f: 3 } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "y" })");
  const Words nets = {"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  const std::string input = "x=" + Array("x.npy", {2}, {1, -2});
  EXPECT_EQ(Run(nets).code, 0);
  const std::string json = Run(Joined(nets, {"--input", input, "--json"})).out;
  EXPECT_EQ(JsonAt(json, "/within"), "true");
  EXPECT_EQ(JsonAt(json, "/blobs/0/largest"), "2");
  dir_.Write("three.pbtxt", R"(name: "n" external_input: ["x", "z", "w"] external_output: "y"
      op { type: "Sub" input: ["x", "z"] output: "t" }
      op { type: "Mul" input: ["t", "w"] output: "y" })");
  for (const char* which : {"none", "second", "both"}) {
    const ProgramResult three =
        Run({"compare", "DIR/three.pbtxt", "DIR/three.pbtxt", "--input", "x=4", "--input", "z=4",
             "--input", "w=[1,2,3,4]", "--optimize", which});
    EXPECT_EQ(three.code, 0) << three.err;
    EXPECT_THAT(three.out, HasSubstr(" blobs agree"));
  }
}

// Both nets have the same random inputs and, with a seed, the same random numbers.
TEST_F(CompareDetailsTest, BothNetsDrawTheSameNumbersWithASeed) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      op { type: "UniformFill" output: "u" arg { name: "shape" ints: 8 } }
      op { type: "Abs" input: "x" output: "y" })");
  const Words compare = {"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=8", "--json"};
  const std::string without = Run(compare).out;
  EXPECT_EQ(JsonAt(without, "/within"), "false");
  EXPECT_EQ(JsonAt(without, "/first_difference/name"), "\"u\"");
  EXPECT_EQ(JsonAt(Run(Joined(compare, {"--seed", "3"})).out, "/within"), "true");
}

// --- bench ---

class BenchDetailsTest : public CompareDetailsTest {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
        op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "y" output: "y" }
        op { type: "Relu" input: "y" output: "y" })");
  }
  // Earlier times of operators with the output y.
  void WriteBefore(const std::vector<std::pair<std::string, int>>& operators) const {
    std::string text = R"({"net": "n", "threads": 1, "median_ms": 1, "operators": [)";
    for (const auto& [type, ms] : operators)
      text += (text.back() == '[' ? "" : ", ") + ("{\"type\": \"" + type) +
              "\", \"output\": \"y\", \"median_ms\": " + std::to_string(ms) + "}";
    dir_.Write("before.json", text + "]}");
  }
  ProgramResult Against(const Words& more) const {
    return Run(Joined({"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=2", "--iterations",
                       "2", "--warmup", "0", "--no-optimize", "--against", "DIR/before.json"},
                      more));
  }
};

TEST_F(BenchDetailsTest, OperatorsOfOneTypeAndOutputAreMatchedInTheirOrder) {
  WriteBefore({{"Relu", 10}, {"Relu", 20}, {"Relu", 30}});
  const std::string json = Against({"--json"}).out;
  ASSERT_EQ(JsonSize(json, "/against/operators"), 3u);
  for (int i = 0; i < 3; ++i) {
    const std::string entry = "/against/operators/" + std::to_string(i);
    const int index = 2 - i;
    EXPECT_EQ(JsonAt(json, entry + "/before_ms"), std::to_string(10 * (index + 1)));
    EXPECT_EQ(JsonAt(json, entry + "/now_ms"),
              JsonAt(json, "/operators/" + std::to_string(index) + "/median_ms"));
  }
  // Those without a counterpart have one time only.
  WriteBefore({{"Relu", 10}});
  const std::string fewer = Against({"--json"}).out;
  ASSERT_EQ(JsonSize(fewer, "/against/operators"), 3u);
  EXPECT_EQ(JsonAt(fewer, "/against/operators/0/before_ms"), "10");
  for (const char* entry : {"/against/operators/1", "/against/operators/2"}) {
    EXPECT_EQ(JsonSize(fewer, entry), 4u) << fewer;
    EXPECT_EQ(JsonAt(fewer, entry + "/change_ms"s), JsonAt(fewer, entry + "/now_ms"s));
  }
  WriteBefore({{"Relu", 10}, {"Relu", 20}, {"Relu", 30}, {"Relu", 40}, {"Abs", 5}});
  const std::string more = Against({"--json"}).out;
  ASSERT_EQ(JsonSize(more, "/against/operators"), 5u);
  EXPECT_EQ(JsonAt(more, "/against/operators/0"),
            R"({"type":"Relu","output":"y","change_ms":-40,"before_ms":40})");
  EXPECT_EQ(JsonAt(more, "/against/operators/4"),
            R"({"type":"Abs","output":"y","change_ms":-5,"before_ms":5})");
}

TEST_F(BenchDetailsTest, TopLimitsTheChanges) {
  WriteBefore({{"Relu", 10}, {"Abs", 20}, {"Sqr", 30}});
  const auto rows = [&](const Words& more) {
    const ProgramResult result = Against(more);
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string text = result.out.substr(result.out.find("largest change first:\n"));
    Words types;
    const Words lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
    for (size_t i = 2; i < lines.size(); ++i) types.push_back(lines[i].substr(2, 4));
    return types;
  };
  EXPECT_EQ(rows({"--top", "2"}), (Words{"Sqr ", "Abs "}));
  EXPECT_EQ(rows({"--top", "4"}), (Words{"Sqr ", "Abs ", "Relu", "Relu"}));
  EXPECT_EQ(rows({}).size(), 5u);
  EXPECT_EQ(rows({"--top", "0"}).size(), 5u);
  EXPECT_EQ(rows({"--top", "9"}).size(), 5u);
  EXPECT_EQ(JsonSize(Against({"--top", "1", "--json"}).out, "/against/operators"), 5u);
}

TEST_F(BenchDetailsTest, WarningsAreTheSameBesideADocument) {
  dir_.Write("before.json", R"({"net": "other", "threads": 2, "median_ms": 1, "operators": []})");
  const std::string file = "caffe2: warning: file \"DIR/before.json\" ";
  for (const Words& more : {Words{}, Words{"--json"}}) {
    EXPECT_EQ(Against(more).err, file + "has times of net \"other\", this is net \"n\"\n" + file +
                                     "was measured with --threads 2, this run with --threads 1\n");
    EXPECT_EQ(Against(Joined(more, {"--threads", "2"})).err,
              file + "has times of net \"other\", this is net \"n\"\n");
  }
  EXPECT_THAT(Against({"--threads", "2"}).out, HasSubstr(" ms of 2 warm runs, 2 threads\n"));
  const std::string wrong[] = {
      R"({"net": "n", "median_ms": 1, "operators": []})",
      R"({"net": "n", "threads": "1", "median_ms": 1, "operators": []})",
      R"({"net": "n", "threads": 1, "median_ms": 1, "operators": [{"type": "A", "output": "y",
          "median_ms": 1, "multiply_adds": -1}]})"};
  for (size_t i = 0; i < std::size(wrong); ++i) {
    dir_.Write("before.json", wrong[i]);
    EXPECT_EQ(Against({}).err,
              "caffe2: file \"DIR/before.json\" is not a result of `caffe2 bench --json`: key \""s +
                  (i < 2 ? "threads" : "multiply_adds") + "\" is not a number of at least 0\n");
  }
}

// An image of 3 x 2 pixels: a filter of 3 channels, and 6 elements of a result.
TEST_F(BenchDetailsTest, AnImageIsTimedInItsSize) {
  dir_.Write("conv.pbtxt", R"(name: "c" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [1, 3, 1, 1] } })");
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 3, .height = 2, .rgb = std::vector<uint8_t>(18, 7)});
  const Words bench = {"bench",
                       "--predict-net",
                       "DIR/conv.pbtxt",
                       "--init-net",
                       "DIR/init.pbtxt",
                       "--iterations",
                       "1",
                       "--warmup",
                       "0",
                       "--no-optimize",
                       "--json",
                       "--image"};
  EXPECT_EQ(JsonAt(Out(Joined(bench, {"x=DIR/a.png"})), "/operators/0/multiply_adds"), "18");
  EXPECT_EQ(
      JsonAt(Out(Joined(bench, {"DIR/a.png", "--resize", "1x1"})), "/operators/0/multiply_adds"),
      "3");
  // Of several images the first one is timed.
  dir_.Write("b.png", "");
  SavePng(dir_.path("b.png"), {.width = 5, .height = 1, .rgb = std::vector<uint8_t>(15, 7)});
  EXPECT_EQ(JsonAt(Out(Joined(bench, {"DIR/a.png", "--image", "DIR/b.png"})),
                   "/operators/0/multiply_adds"),
            "18");
  EXPECT_EQ(JsonAt(Out(Joined(bench, {"DIR/b.png", "--image", "DIR/a.png"})),
                   "/operators/0/multiply_adds"),
            "15");
}

}  // namespace
}  // namespace caffe2rt::test::compare_details_test
