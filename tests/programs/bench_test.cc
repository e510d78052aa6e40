// The results of `caffe2 bench`.

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::bench_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class BenchProgramTest : public ::testing::Test {
 protected:
  // A pointwise convolution from 4 to 8 channels on 6x6 pixels.
  static constexpr char kNet[] = R"(
      name: "small" external_input: "x" external_input: "w" external_output: "z"
      op { type: "Conv" name: "first" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } }
      op { type: "Relu" input: "y" output: "z" })";

  ProgramResult Bench(const std::vector<std::string>& options) {
    std::vector<std::string> args = {"bench",
                                     "--predict-net",
                                     dir_.Write("net.pbtxt", kNet),
                                     "--input",
                                     "x=1,4,6,6",
                                     "--input",
                                     "w=8,4,1,1",
                                     "--warmup",
                                     "1",
                                     "--iterations",
                                     "3",
                                     "--no-optimize"};
    args.insert(args.end(), options.begin(), options.end());
    return RunCaffe2(args);
  }

  TempDir dir_;
};

TEST_F(BenchProgramTest, TimesANetAndItsOperators) {
  const ProgramResult result = Bench({"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/net"), R"("small")");
  EXPECT_EQ(JsonAt(result.out, "/iterations"), "3");
  EXPECT_NE(JsonAt(result.out, "/median_ms"), "0");
  EXPECT_NE(JsonAt(result.out, "/cold_ms"), "0");
  EXPECT_NE(JsonAt(result.out, "/ahead_ms"), "0");
  EXPECT_NE(JsonAt(result.out, "/types/Relu"), "0");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/type"), R"("Conv")");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/name"), R"("first")");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/multiply_adds"), "1152");  // 8 * 36 * 4
  EXPECT_EQ(JsonAt(result.out, "/operators/0/flops"), "2304");
  EXPECT_EQ(JsonAt(result.out, "/operators/0/bytes"), "1856");  // 4 * (4 * 36 + 8 * 4 + 8 * 36)
  EXPECT_NE(JsonAt(result.out, "/operators/0/share_percent"), "0");
}

TEST_F(BenchProgramTest, PrintsCostsColdAndWarmTimesAndTheOverhead) {
  const ProgramResult result = Bench({});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(StartsWith("net \"small\": median "), HasSubstr("first run (cold"),
                                HasSubstr("cold ms"), HasSubstr("GFLOP/s"), HasSubstr("GB/s"),
                                HasSubstr(" 1152 "), HasSubstr("overhead"), HasSubstr("by type:")));
}

TEST_F(BenchProgramTest, PrintsTheTopOperators) {
  const ProgramResult result = Bench({"--top", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("  1 other +[0-9]"));
}

TEST_F(BenchProgramTest, DrawsWhereTheTimeGoes) {
  // The report is printed beside the file.
  for (const auto& [option, report] :
       {std::pair("--svg", "net \"small\": median "), {"--json", "{\"net\": \"small\", "}}) {
    std::vector<std::string> options = {"--svg", dir_.path("time.svg")};
    if (std::string(option) == "--json") options.emplace_back(option);
    const ProgramResult result = Bench(options);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith(report));
  }
  EXPECT_THAT(ReadWholeFile(dir_.path("time.svg")),
              AllOf(StartsWith("<svg "), HasSubstr("0 Conv  y"), HasSubstr("</svg>")));
  EXPECT_THAT(Bench({"--svg", "-"}).out, AllOf(StartsWith("<svg "), EndsWith("</svg>\n")));
}

TEST_F(BenchProgramTest, ComparesWithAnEarlierResult) {
  const std::string before = dir_.Write("before.json", R"({"net": "small", "median_ms": 1e6,
      "threads": 1, "operators": [{"type": "Conv", "output": "y", "median_ms": 2e5},
                                  {"type": "Gone", "output": "z", "median_ms": 3e5}]})");
  const ProgramResult text = Bench({"--against", before});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.err, IsEmpty());
  EXPECT_THAT(text.out, AllOf(HasSubstr("net 1000000.0000 ms before"), HasSubstr("ratio 0.00"),
                              HasSubstr("largest change first")));
  EXPECT_LT(text.out.rfind("Gone"), text.out.rfind("Conv"));
  EXPECT_LT(text.out.rfind("Conv"), text.out.rfind("Relu"));
  const ProgramResult json = Bench({"--against", before, "--json"});
  EXPECT_EQ(JsonAt(json.out, "/against/operators/0/type"), R"("Gone")");
  EXPECT_EQ(JsonAt(json.out, "/against/operators/0/before_ms"), "300000.0");
  EXPECT_EQ(JsonAt(json.out, "/against/operators/1/before_ms"), "200000.0");
  EXPECT_EQ(JsonAt(json.out, "/against/operators/2/type"), R"("Relu")");
}

TEST_F(BenchProgramTest, ComparesItsOwnResultAndFailsIfItIsTooSlow) {
  const ProgramResult before = Bench({"--json"});
  const std::string file = dir_.Write("before.json", before.out);
  EXPECT_EQ(Bench({"--against", file, "--fail-above", "100000"}).code, 0);
  const std::string fast = dir_.Write(
      "fast.json", R"({"net": "small", "median_ms": 1e-9, "threads": 1, "operators": []})");
  const ProgramResult slow = Bench({"--against", fast, "--fail-above", "5"});
  EXPECT_EQ(slow.code, 1);
  EXPECT_THAT(slow.err, AllOf(HasSubstr("net \"small\" takes "),
                              HasSubstr(" ms (median of the warm runs), want at most 0.0000 ms"),
                              HasSubstr("\"" + fast + "\" and 5% more (--fail-above)")));
  EXPECT_EQ(Bench({"--against", fast, "--fail-above", "5", "--json"}).code, 1);
  const ProgramResult drawn = Bench({"--against", fast, "--fail-above", "5", "--svg", "-"});
  EXPECT_EQ(drawn.code, 1);
  EXPECT_THAT(drawn.out, AllOf(StartsWith("<svg "), EndsWith("</svg>\n")));
  EXPECT_THAT(drawn.err, HasSubstr("\"" + fast + "\" and 5% more (--fail-above)"));
  const std::string half = dir_.Write(
      "half.json", R"({"net": "small", "median_ms": 1e5, "threads": 1, "operators": []})");
  EXPECT_EQ(Bench({"--against", half, "--fail-above", "0.5"}).code, 0);
  EXPECT_EQ(Bench({"--against", half, "--fail-above", "0.5", "--svg", "-"}).code, 0);
  for (const char* wrong : {"-1", "x", "1,2", "nan", ""}) {
    const ProgramResult result = Bench({"--against", half, "--fail-above=" + std::string(wrong)});
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("option --fail-above is \"" + std::string(wrong) + "\""));
  }
}

TEST_F(BenchProgramTest, WarnsIfTheEarlierResultIsOfAnotherRun) {
  const std::string other = dir_.Write(
      "other.json", R"({"net": "other", "median_ms": 1, "threads": 4, "operators": []})");
  EXPECT_THAT(Bench({"--against", other}).err,
              AllOf(HasSubstr("has times of net \"other\""), HasSubstr("--threads 4")));
}

TEST_F(BenchProgramTest, WarnsIfTheEarlierResultIsOfOtherInputs) {
  // This run has 6 * 6 * 8 * 4 multiply-adds.
  const auto warning = [&](const std::string& multiply_adds) {
    return Bench({"--against",
                  dir_.Write("before.json",
                             R"({"net": "small", "median_ms": 1, "threads": 1, "operators": [
                                 {"type": "Conv", "output": "y", "median_ms": 1, "multiply_adds": )" +
                                 multiply_adds + "}]}")})
        .err;
  };
  EXPECT_THAT(warning("1152"), IsEmpty());
  EXPECT_THAT(warning("2304"),
              HasSubstr("was measured with 2304 multiply-adds, this run has 1152"));
}

TEST_F(BenchProgramTest, RejectsFilesThatAreNoResults) {
  const std::string deep(100000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), deep, std::string("{\"net\": 1}"),
        std::string(R"({"net": "n", "median_ms": -1, "threads": 1, "operators": []})"),
        std::string(R"({"net": "n", "median_ms": 1, "threads": 1, "operators": [1]})")}) {
    const ProgramResult result = Bench({"--against", dir_.Write("bad.json", text)});
    EXPECT_EQ(result.code, 1) << text.substr(0, 80);
    EXPECT_THAT(result.err, HasSubstr("is not a result of `caffe2 bench --json`"));
  }
  EXPECT_EQ(Bench({"--against", dir_.path("absent.json")}).code, 1);
  EXPECT_EQ(Bench({"--fail-above", "5"}).code, 2);
}

TEST_F(BenchProgramTest, ReadsTheTableThatItWrites) {
  const std::string table = dir_.path("table.tsv");
  const ProgramResult tune = Bench({"--tune", table});
  EXPECT_EQ(tune.code, 0) << tune.err;
  const std::string text = ReadWholeFile(table);
  EXPECT_THAT(text, StartsWith("# caffe2rt convolution table, version 1\n"));
  EXPECT_THAT(text, HasSubstr(std::string(IsaName(CpuIsa())) + "\tNCHW\t1x4x6x6\t8\t1x1\t"));
  EXPECT_THAT(text, AnyOf(EndsWith("\nlayouts\tplain\n"), EndsWith("\nlayouts\tonednn\n")));
  const ProgramResult bench = Bench({"--tuning", table});
  EXPECT_EQ(bench.code, 0) << bench.err;
  EXPECT_THAT(bench.err, IsEmpty());
}

// The times are printed with four digits, in which those of a net of this size hardly ever agree.
TEST_F(BenchProgramTest, TheTableHasTheFasterLayouts) {
  const std::string table = dir_.path("table.tsv");
  for (const char* option : {"--warmup=1", "--json"}) {
    std::filesystem::remove(table);
    const ProgramResult tune = RunCaffe2({"bench", "--predict-net", dir_.Write("net.pbtxt", kNet),
                                          "--input", "x=1,64,28,28", "--input", "w=64,64,1,1",
                                          "--iterations", "3", "--tune", table, option});
    ASSERT_EQ(tune.code, 0) << tune.err;
    const auto time = [&](const std::string& layouts) {
      const std::string head = "the net with layouts " + layouts + ": ";
      return std::stod(tune.out.substr(tune.out.find(head) + head.size()));
    };
    const double onednn = time("onednn"), plain = time("plain");
    const std::string text = ReadWholeFile(table);
    if (onednn != plain) {
      EXPECT_THAT(text, EndsWith(onednn < plain ? "\tonednn\n" : "\tplain\n")) << tune.out;
    }
  }
}

// Convolutions of one shape have one row, with a bias or without; the group, the stride and the kernel are parts of the shape.
TEST_F(BenchProgramTest, EachConvolutionIsTimedOnce) {
  const std::string init = dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [2, 2, 1, 1] } }
      op { type: "ConstantFill" output: "v" arg { name: "shape" ints: [2, 1, 1, 1] } }
      op { type: "ConstantFill" output: "u" arg { name: "shape" ints: [3, 2, 1, 1] } }
      op { type: "ConstantFill" output: "k" arg { name: "shape" ints: [2, 2, 1] } }
      op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 2 } })");
  const std::string table = dir_.path("table.tsv");
  const auto tune = [&](const std::string& net, const std::string& input) {
    const ProgramResult result = RunCaffe2(
        {"bench", "--predict-net", dir_.Write("convs.pbtxt", net), "--init-net", init, "--input",
         input, "--warmup", "0", "--iterations", "1", "--no-optimize", "--tune", table});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  const std::string out =
      tune(R"(name: "c" external_input: ["x", "w", "v", "u", "n"] external_output: "z"
      op { type: "Conv" input: ["x", "w"] output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Conv2D" input: ["a", "w", "n"] output: "b" arg { name: "kernel" i: 1 } }
      op { type: "Add" input: ["b", "b"] output: "c" }
      op { type: "Conv" input: ["c", "v"] output: "d" arg { name: "kernel" i: 1 }
           arg { name: "group" i: 2 } }
      op { type: "Conv" input: ["d", "u"] output: "z" arg { name: "kernel" i: 1 }
           arg { name: "stride" i: 2 } })",
           "x=2,2,3,3");
  EXPECT_THAT(out, ContainsRegex("^2 to 2 channels, 2 images: [a-z0-9_]+  [0-9]+\\.[0-9] us\n"
                                 "2 to 2 channels, 2 images: [a-z0-9_]+  [0-9]+\\.[0-9] us\n"
                                 "2 to 3 channels, 2 images: [a-z0-9_]+  [0-9]+\\.[0-9] us\n"
                                 "the net with layouts onednn: [0-9]+\\.[0-9]{4} ms\n"
                                 "the net with layouts plain: [0-9]+\\.[0-9]{4} ms\n"
                                 "written to [^\n]*; --tuning of run and bench reads it\n$"));
  const std::vector<std::string> rows = absl::StrSplit(ReadWholeFile(table), '\n');
  ASSERT_EQ(rows.size(), 7u);
  const std::string isa(IsaName(CpuIsa()));
  EXPECT_THAT(rows[2], StartsWith(isa + "\tNCHW\t2x2x3x3\t2\t1x1\t1x1\t0x0\t0x0\t1x1\t1\t"));
  EXPECT_THAT(rows[3], StartsWith(isa + "\tNCHW\t2x2x3x3\t2\t1x1\t1x1\t0x0\t0x0\t1x1\t2\t"));
  EXPECT_THAT(rows[4], StartsWith(isa + "\tNCHW\t2x2x3x3\t3\t1x1\t2x2\t0x0\t0x0\t1x1\t1\t"));
  EXPECT_THAT(tune(R"(name: "c" external_input: ["x", "k"] external_output: "y"
      op { type: "Conv1D" input: ["x", "k"] output: "y" arg { name: "kernels" ints: 1 } })",
                   "x=1,2,4"),
              StartsWith("2 to 2 channels, 1 image: "));
  EXPECT_THAT(ReadWholeFile(table), HasSubstr(isa + "\tNCHW\t1x2x4\t2\t1\t1\t0\t0\t1\t1\t"));
  // There is nothing to time on an empty batch.
  std::filesystem::remove(table);
  const ProgramResult empty =
      RunCaffe2({"bench", "--predict-net", dir_.path("convs.pbtxt"), "--init-net", init, "--input",
                 "x=0,2,4", "--warmup", "0", "--iterations", "1", "--tune", table});
  EXPECT_EQ(empty.code, 1);
  EXPECT_EQ(empty.err, "caffe2: net \"c\" has no convolution of a known shape to time\n");
  EXPECT_FALSE(std::filesystem::exists(table));
}

TEST_F(BenchProgramTest, ExplainsWhichKernelsRun) {
  const std::string table =
      MakeString("# caffe2rt convolution table, version 1\n", IsaName(CpuIsa()),
                 "\tNCHW\t1x4x6x6\t8\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t7.5\n");
  const std::vector<std::string> options = {"--explain", "--tuning", dir_.Write("t.tsv", table),
                                            "--threads", "1"};
  const ProgramResult text = Bench(options);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              testing::ContainsRegex("0 +y +im2col +built-in +nchw +- +7\\.5 +runs +table\n"));
  std::vector<std::string> json_options = options;
  json_options.push_back("--json");
  const std::string json = Bench(json_options).out;
  EXPECT_EQ(JsonAt(json, "/operators/0/kernel/algorithm"), R"("im2col")");
  EXPECT_EQ(JsonAt(json, "/operators/0/kernel/reason"), R"("table")");
  EXPECT_EQ(JsonAt(json, "/operators/0/candidates/0/table_us"), "7.5");
  EXPECT_EQ(JsonAt(json, "/operators/0/candidates/0/y_layout"), R"("nchw")");
  EXPECT_THAT(Bench({"--json"}).out, Not(HasSubstr("candidates")));
  // Beside an earlier result, too.
  const std::string before = dir_.Write("before.json", json);
  json_options.insert(json_options.end(), {"--against", before});
  const std::string both = Bench(json_options).out;
  EXPECT_EQ(JsonAt(both, "/operators/0/kernel/algorithm"), R"("im2col")");
  EXPECT_EQ(JsonAt(both, "/against/file"), "\"" + before + "\"");
  EXPECT_EQ(JsonSize(both, "/against/operators"), 2u);
}

TEST_F(BenchProgramTest, TimesNothingForATableThatCannotBeWritten) {
  const ProgramResult tune = Bench({"--tune", dir_.path("missing/table.tsv")});
  EXPECT_EQ(tune.code, 1);
  EXPECT_THAT(tune.err, HasSubstr("missing"));
  EXPECT_THAT(tune.out, IsEmpty());
}

// With the pass onednn_regions, the net has operators that copy to IDEEP and back.
TEST_F(BenchProgramTest, ATableWithPlainLayoutsKeepsConvolutionsOnTheCpu) {
  std::string net =
      "name: \"n\" external_input: \"x0\" external_input: \"w\" external_output: \"x6\"";
  for (int i = 0; i < 6; ++i) {
    net += "op { type: \"Conv\" input: \"x" + std::to_string(i) + "\" input: \"w\" output: \"x" +
           std::to_string(i + 1) + "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } }";
  }
  const std::string weights = R"(op { type: "ConstantFill" output: "w" arg { name: "value" f: 0.01 }
      arg { name: "shape" ints: 64 ints: 64 ints: 3 ints: 3 } })";
  const std::vector<std::string> args = {"bench",
                                         "--init-net",
                                         dir_.Write("init.pbtxt", weights),
                                         "--predict-net",
                                         dir_.Write("deep.pbtxt", net),
                                         "--input",
                                         "x0=1,64,56,56",
                                         "--iterations",
                                         "1",
                                         "--warmup",
                                         "0",
                                         "--json"};
  const ProgramResult before = RunCaffe2(args);
  ASSERT_EQ(before.code, 0) << before.err;
  if (before.out.find("CopyFromCPUInput") == std::string::npos) {
    GTEST_SKIP() << "on this processor no convolution is placed on IDEEP";
  }
  const std::string version = "# caffe2rt convolution table, version 1\n";
  const auto types = [&](const std::string& layouts) {
    std::vector<std::string> tuned = args;
    tuned.insert(tuned.end(),
                 {"--tuning", dir_.Write("t.tsv", version + "layouts\t" + layouts + "\n")});
    return JsonAt(RunCaffe2(tuned).out, "/types");
  };
  EXPECT_THAT(types("onednn"), HasSubstr("CopyFromCPUInput"));
  EXPECT_THAT(types("plain"), Not(HasSubstr("CopyFromCPUInput")));
}

TEST_F(BenchProgramTest, RejectsOtherTables) {
  const ProgramResult other = Bench({"--tuning", dir_.Write("t.tsv", "hello\n")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("the first line is \"hello\", want"));
  const std::string first = "# caffe2rt convolution table, version 1\n";
  EXPECT_THAT(Bench({"--tuning", dir_.Write("t.tsv", first + "avx2\tNCHW\n")}).err,
              HasSubstr("line 2 of a convolution table"));
  EXPECT_THAT(Bench({"--tuning", dir_.Write("t.tsv", first)}).err,
              HasSubstr("has no row for the instruction set of this machine"));
}

}  // namespace
}  // namespace caffe2rt::test::bench_test
