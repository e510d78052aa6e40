// What `caffe2 bench` prints of given times: their digits, shares, speeds, sums and changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "binaries/commands/bench_explain.h"
#include "binaries/commands/bench_report.h"
#include "binaries/commands/model.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {
namespace {
std::vector<std::string> bench_text_warnings;
}  // namespace

// The commands' own prints to the standard error.
void Warn(const std::string& text) { bench_text_warnings.push_back(text); }

namespace test::bench_text_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BenchTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const columns = std::getenv("COLUMNS");
    if (columns != nullptr) columns_ = columns;
    setenv("COLUMNS", "200", 1);
    threads_ = GetNumThreads();
    SetNumThreads(1);
    bench_text_warnings.clear();
  }
  void TearDown() override {
    SetNumThreads(threads_);
    columns_ ? setenv("COLUMNS", columns_->c_str(), 1) : unsetenv("COLUMNS");
  }
  template <class Function>
  static std::string Printed(Function&& print) {
    std::ostringstream out;
    std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
    print();
    std::cout.rdbuf(before);
    return out.str();
  }
  static std::string AsJson(const Json& json) {
    return Printed([&] { PrintJson(json); });
  }
  // The operators need 18 of 20 ms. A giga is a million per millisecond.
  static NetProfile Profile() {
    NetProfile profile = {.net = "n\n1", .ahead_ms = 0.5, .cold_ms = 999.25, .timed_runs = 7};
    profile.warm = {.median_ms = 20, .least_ms = 9.5, .mean_ms = 1000.25};
    profile.operators = {{.index = 0,
                          .type = "Conv",
                          .name = "first",
                          .output = "y",
                          .cold_ms = 30,
                          .warm_ms = 10,
                          .multiply_adds = 9999,
                          .flops = 20'000'000,
                          .bytes = 100'000'000},
                         {.index = 1,
                          .type = "Relu",
                          .output = "z_ideep",
                          .engine = "NHWC",
                          .cold_ms = 1500,
                          .warm_ms = 2},
                         {.index = 2,
                          .type = "Conv",
                          .output = "w",
                          .cold_ms = 9.5,
                          .warm_ms = 5,
                          .multiply_adds = 10'000,
                          .flops = 49'950'000,
                          .bytes = 50'000},
                         {.index = 3, .type = "Abs", .cold_ms = 1, .warm_ms = 1}};
    return profile;
  }

 private:
  std::optional<std::string> columns_;
  int threads_ = 1;
};

TEST_F(BenchTextTest, TheCostliestOperatorsComeFirstAndAddUp) {
  const std::string head =
      "net \"n\\x0a1\": median 20.00 ms, least 9.5000 ms, mean 1000 ms of 7 warm runs, 1 thread\n"
      "first run (cold): 999.25 ms, after 0.5000 ms of preparation (weights, memory, cheap\n"
      "operators once on zeros)\n"
      "operators by cost (ms: warm median; share: of the net's median; overhead: the\n"
      "net minus its operators, which are timed one by one):\n"
      "  #  type       output      ms  share  cold ms  mult-adds  GFLOP/s  GB/s\n"
      "  0  Conv       y        10.00  50.0%    30.00       9999     2.00  10.0\n";
  const std::string types =
      "by type:\n"
      "  type  operators      ms  share\n"
      "  Conv          2   15.00  75.0%\n"
      "  Relu          1  2.0000  10.0%\n"
      "  Abs           1  1.0000   5.0%\n";
  const std::string all =
      head +
      "  2  Conv       w       5.0000  25.0%   9.5000     10.0 k     9.99  0.01\n"
      "  1  Relu NHWC  z       2.0000  10.0%     1500          -        -     -\n"
      "  3  Abs                1.0000   5.0%   1.0000          -        -     -\n"
      "     overhead           2.0000  10.0%\n" +
      types;
  for (const size_t top : {size_t{0}, size_t{4}, size_t{5}})
    EXPECT_EQ(Printed([&] { PrintProfile(Profile(), top); }), all) << top;
  EXPECT_EQ(Printed([] { PrintProfile(Profile(), 3); }),
            head +
                "  2  Conv       w       5.0000  25.0%   9.5000     10.0 k     9.99  0.01\n"
                "  1  Relu NHWC  z       2.0000  10.0%     1500          -        -     -\n"
                "     1 other            1.0000   5.0%\n"
                "     overhead           2.0000  10.0%\n" +
                types);
  const std::string one = Printed([] { PrintProfile(Profile(), 1); });
  EXPECT_THAT(one, EndsWith("     3 others          8.0000  40.0%\n"
                            "     overhead          2.0000  10.0%\n" +
                            types));
  SetNumThreads(2);
  NetProfile faster = Profile();
  faster.net = "m";
  faster.warm.median_ms = 16;  // operators ran at the same time
  const std::string two = Printed([&] { PrintProfile(faster, 1); });
  EXPECT_THAT(two, StartsWith("net \"m\": median 16.00 ms, least 9.5000 ms, mean 1000 ms of 7 "
                              "warm runs, 2 threads\n"));
  EXPECT_NE(two.find("overhead          -2.0000  -12.5%\n"), std::string::npos) << two;
}

TEST_F(BenchTextTest, ADocumentHasWhatIsKnown) {
  Json json;
  WriteProfile(Profile(), &json);
  EXPECT_EQ(json["median_ms"], 20);
  EXPECT_EQ(json["min_ms"], 9.5);
  EXPECT_EQ(json["mean_ms"], 1000.25);
  EXPECT_EQ(json["cold_ms"], 999.25);
  EXPECT_EQ(json["ahead_ms"], 0.5);
  EXPECT_EQ(json["overhead_ms"], 2);
  EXPECT_EQ(json["iterations"], 7);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(AsJson(json["types"]), "{\"Conv\": 15, \"Relu\": 2, \"Abs\": 1}\n");
  EXPECT_EQ(AsJson(json["operators"]),
            R"([{"index": 0, "type": "Conv", "name": "first", "output": "y", "median_ms": 10, )"
            R"("share_percent": 50, "cold_ms": 30, "multiply_adds": 9999, "flops": 20000000, )"
            R"("gflops_per_second": 2, "bytes": 100000000, "gb_per_second": 10}, )"
            R"({"index": 1, "type": "Relu", "name": "", "output": "z_ideep", "median_ms": 2, )"
            R"("share_percent": 10, "cold_ms": 1500, "engine": "NHWC"}, )"
            R"({"index": 2, "type": "Conv", "name": "", "output": "w", "median_ms": 5, )"
            R"("share_percent": 25, "cold_ms": 9.5, "multiply_adds": 10000, "flops": 49950000, )"
            R"("gflops_per_second": 9.99, "bytes": 50000, "gb_per_second": 0.01}, )"
            R"({"index": 3, "type": "Abs", "name": "", "output": "", "median_ms": 1, )"
            R"("share_percent": 5, "cold_ms": 1}])"
            "\n");
}

// --- --explain ---

NetProfile ProfileOfKernels() {
  NetProfile profile;
  profile.operators = {{.index = 0, .type = "Conv", .output = "y_ideep"},
                       {.index = 1, .type = "Relu", .output = "z"},
                       {.index = 2, .type = "Conv", .output = "w"}};
  profile.operators[0].kernel = KernelChoice{.candidates = {{.algorithm = "fast",
                                                             .implementation = "lib",
                                                             .x_layout = "nchw",
                                                             .y_layout = "nhwc",
                                                             .reason = "no AMX",
                                                             .table_us = 3.125},
                                                            {.algorithm = "plain",
                                                             .implementation = "built-in",
                                                             .x_layout = "nchw",
                                                             .y_layout = "nchw",
                                                             .reason = "rule",
                                                             .model_us = 4.5},
                                                            {.algorithm = "any",
                                                             .implementation = "built-in",
                                                             .reason = "too large",
                                                             .excluded = true}},
                                             .position = 1};
  profile.operators[2].kernel =
      KernelChoice{.candidates = {{.algorithm = "only", .implementation = "engine"}}};
  return profile;
}

TEST_F(BenchTextTest, CandidatesOfEachOperatorAreExplained) {
  EXPECT_EQ(
      Printed([] { PrintKernels(ProfileOfKernels()); }),
      "kernels (candidates in the order of preference; model us: estimated; table us: from\n"
      "the table of timings; reason: why a candidate has its place or is excluded):\n"
      "  #  output  candidate  by        layouts       model us  table us            reason\n"
      "  0  y       fast       lib       nchw to nhwc         -       3.1            no AMX\n"
      "             plain      built-in  nchw               4.5         -  runs      rule\n"
      "             any        built-in  -                    -         -  excluded  too large\n"
      "  2  w       only       engine    -                    -         -  runs\n");
  Json json = {{"operators", Json::array({Json::object(), Json::object(), Json::object()})}};
  WriteKernels(ProfileOfKernels(), &json);
  const std::string plain =
      R"({"algorithm": "plain", "implementation": "built-in", "reason": "rule", "excluded": false, )"
      R"("x_layout": "nchw", "y_layout": "nchw", "model_us": 4.5})";
  const std::string only =
      R"({"algorithm": "only", "implementation": "engine", "reason": "", "excluded": false})";
  EXPECT_EQ(AsJson(json["operators"]),
            R"([{"kernel": )" + plain +
                R"(, "candidates": [{"algorithm": "fast", "implementation": "lib", )"
                R"("reason": "no AMX", "excluded": false, "x_layout": "nchw", "y_layout": "nhwc", )"
                R"("table_us": 3.125}, )" +
                plain +
                R"(, {"algorithm": "any", "implementation": "built-in", "reason": "too large", )"
                R"("excluded": true}]}, {}, {"kernel": )" +
                only + R"(, "candidates": [)" + only + "]}]\n");
}

// --- --against ---

EarlierProfile Earlier() {
  return {.file = "old\n.json",
          .net = "n\n1",
          .median_ms = 10,
          .threads = 1,
          .operators = {
              {"Conv", "y", 4}, {"Gone", "g_ideep", 12}, {"Relu", "z_ideep", 0}, {"Conv", "w", 5}}};
}

TEST_F(BenchTextTest, TheLargestChangeComesFirst) {
  const std::string head =
      "against old\\x0a.json, medians of the warm runs: net 10.0000 ms before, 20.0000 ms now, "
      "ratio "
      "2.00\n"
      "operators, largest change first:\n";
  EXPECT_EQ(Printed([] { PrintComparison(Profile(), Earlier(), 0); }),
            head +
                "  type  output  before ms   now ms  change ms  ratio\n"
                "  Gone  g         12.0000        -   -12.0000      -\n"
                "  Conv  y          4.0000  10.0000    +6.0000   2.50\n"
                "  Relu  z          0.0000   2.0000    +2.0000      -\n"
                "  Abs                   -   1.0000    +1.0000      -\n"
                "  Conv  w          5.0000   5.0000     0.0000   1.00\n");
  EXPECT_EQ(Printed([] { PrintComparison(Profile(), Earlier(), 2); }),
            head +
                "  type  output  before ms   now ms  change ms  ratio\n"
                "  Gone  g         12.0000        -   -12.0000      -\n"
                "  Conv  y          4.0000  10.0000    +6.0000   2.50\n");
  EXPECT_THAT(bench_text_warnings, IsEmpty());
  Json json;
  WriteComparison(Profile(), Earlier(), &json);
  EXPECT_EQ(
      AsJson(json),
      R"({"file": "old\n.json", "median_ms": 10, "ratio": 2, "operators": [)"
      R"({"type": "Gone", "output": "g_ideep", "change_ms": -12, "before_ms": 12}, )"
      R"({"type": "Conv", "output": "y", "change_ms": 6, "before_ms": 4, "now_ms": 10, )"
      R"("ratio": 2.5}, )"
      R"({"type": "Relu", "output": "z_ideep", "change_ms": 2, "before_ms": 0, "now_ms": 2}, )"
      R"({"type": "Abs", "output": "", "change_ms": 1, "now_ms": 1}, )"
      R"({"type": "Conv", "output": "w", "change_ms": 0, "before_ms": 5, "now_ms": 5, )"
      R"("ratio": 1}]})"
      "\n");
  // A net that took no time has no ratio.
  EarlierProfile none = Earlier();
  none.median_ms = 0;
  EXPECT_THAT(Printed([&] { PrintComparison(Profile(), none, 1); }),
              StartsWith("against old\\x0a.json, medians of the warm runs: net 0.0000 ms before, "
                         "20.0000 ms now, ratio -\n"));
  WriteComparison(Profile(), none, &json);
  EXPECT_FALSE(json.contains("ratio"));
}

// A column and its gap need as much as its widest cell, and two more. The least important ones are left out first.
TEST_F(BenchTextTest, NarrowTerminalsHaveFewerColumns) {
  const auto line = [](int columns, const std::function<void()>& print, const std::string& begin) {
    setenv("COLUMNS", std::to_string(columns).c_str(), 1);
    const std::string text = Printed(print);
    const size_t at = text.find("\n" + begin);
    return at == std::string::npos ? text : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  struct Row {
    int columns;
    const char* titles;
  };
  const std::string all = "  #  type       output      ms  share";
  for (const Row& row : {Row{72, "  cold ms  mult-adds  GFLOP/s  GB/s"},
                         {71, "  cold ms  GFLOP/s  GB/s"},
                         {61, "  cold ms  GFLOP/s  GB/s"},
                         {60, "  GFLOP/s  GB/s"},
                         {52, "  GFLOP/s  GB/s"},
                         {51, "  GFLOP/s"},
                         {46, "  GFLOP/s"},
                         {45, ""},
                         {37, ""}})
    EXPECT_EQ(line(
                  row.columns, [] { PrintProfile(Profile(), 0); }, "  #"),
              all + row.titles)
        << row.columns;
  for (const Row& row : {Row{52, "  before ms   now ms"}, {51, "   now ms"}, {41, "   now ms"}})
    EXPECT_EQ(line(
                  row.columns, [] { PrintComparison(Profile(), Earlier(), 0); }, "  type"),
              "  type  output" + std::string(row.titles) + "  change ms  ratio")
        << row.columns;
  const std::string candidate = "             any      ";
  for (const Row& row : {Row{87, "  built-in"}, {86, ""}, {77, ""}})
    EXPECT_EQ(line(
                  row.columns, [] { PrintKernels(ProfileOfKernels()); }, candidate),
              candidate + row.titles + "  -                    -         -  excluded  too large")
        << row.columns;
}

// The multiply-adds of the run are 19999.
TEST_F(BenchTextTest, WarningsNameWhatDiffers) {
  const auto warnings = [](const EarlierProfile& earlier) {
    bench_text_warnings.clear();
    (void)Printed([&] { PrintComparison(Profile(), earlier, 1); });
    return bench_text_warnings;
  };
  EarlierProfile earlier = Earlier();
  earlier.multiply_adds = 19999;
  EXPECT_THAT(warnings(earlier), IsEmpty());
  earlier.multiply_adds = 20000;
  EXPECT_THAT(
      warnings(earlier),
      ElementsAre("file \"old\n.json\" was measured with 20.0 k multiply-adds, this run has "
                  "20.0 k: the inputs or the net differ"));
  earlier.multiply_adds = 1e30;
  EXPECT_THAT(
      warnings(earlier),
      ElementsAre("file \"old\n.json\" was measured with 1000000000.0 G multiply-adds, this "
                  "run has 20.0 k: the inputs or the net differ"));
  earlier.multiply_adds = 0;
  earlier.threads = 3;
  earlier.net = "other";
  EXPECT_THAT(warnings(earlier),
              ElementsAre("file \"old\n.json\" has times of net \"other\", this is net \"n\n1\"",
                          "file \"old\n.json\" was measured with --threads 3, this run with "
                          "--threads 1"));
  // Fewer threads before differ, too.
  SetNumThreads(4);
  earlier.net = Earlier().net;
  EXPECT_THAT(warnings(earlier),
              ElementsAre("file \"old\n.json\" was measured with --threads 3, this run with "
                          "--threads 4"));
  SetNumThreads(3);
  EXPECT_THAT(warnings(earlier), IsEmpty());
  SetNumThreads(1);
  // A net without convolutions has none.
  earlier = Earlier();
  earlier.multiply_adds = 7;
  NetProfile without = Profile();
  for (OperatorProfile& op : without.operators) op.multiply_adds = 0;
  bench_text_warnings.clear();
  Json json;
  WriteComparison(without, earlier, &json);
  EXPECT_THAT(bench_text_warnings, IsEmpty());
}

}  // namespace
}  // namespace test::bench_text_test
}  // namespace caffe2rt
