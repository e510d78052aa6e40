// Numbers that the programs print of times: none is known in advance, but they belong together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::consistent_numbers_test {
namespace {

double At(const std::string& json, const std::string& pointer) {
  return std::stod(JsonAt(json, pointer));
}

// Equal up to the rounding of floats.
void ExpectSame(double got, double want, const std::string& what) {
  EXPECT_NEAR(got, want, 1e-4 * std::abs(want) + 1e-9) << what;
}

class ConsistentNumbersTest : public ::testing::Test {
 protected:
  std::string Bench(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {
        "bench",
        "--no-optimize",
        "--init-net",
        dir_.Write("init.pbtxt", R"(
        op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 4 ints: 8 } }
        op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 4 } })"),
        "--predict-net",
        dir_.Write("net.pbtxt", R"(name: "small" external_input: "x" external_output: "p"
        external_input: "w" external_input: "b"
        op { type: "Relu" input: "x" output: "r" name: "first" }
        op { type: "FC" input: "r" input: "w" input: "b" output: "f" }
        op { type: "Relu" input: "f" output: "g" }
        op { type: "Softmax" input: "g" output: "p" })"),
        "--input",
        "x=2,8",
        "--iterations",
        "5"};
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  const TempDir dir_;
};

TEST_F(ConsistentNumbersTest, SharesRatesAndSumsOfBenchFollowFromItsTimes) {
  const std::string json = Bench({"--json"});
  EXPECT_EQ(JsonAt(json, "/iterations"), "5");
  EXPECT_EQ(JsonAt(json, "/threads"), "1");
  ASSERT_EQ(JsonSize(json, "/operators"), 4u);
  const double median = At(json, "/median_ms");
  EXPECT_LE(At(json, "/min_ms"), median);
  EXPECT_LE(At(json, "/min_ms"), At(json, "/mean_ms"));
  double sum = 0, relu = 0;
  const std::string types[] = {"Relu", "FC", "Relu", "Softmax"};
  for (int i = 0; i < 4; ++i) {
    const std::string op = "/operators/" + std::to_string(i);
    EXPECT_EQ(JsonAt(json, op + "/index"), std::to_string(i));
    EXPECT_EQ(JsonAt(json, op + "/type"), "\"" + types[i] + "\"");
    const double ms = At(json, op + "/median_ms");
    ExpectSame(At(json, op + "/share_percent"), 100 * ms / median, op + " share");
    ExpectSame(At(json, op + "/gflops_per_second"), At(json, op + "/flops") / ms / 1e6,
               op + " GFLOP/s");
    ExpectSame(At(json, op + "/gb_per_second"), At(json, op + "/bytes") / ms / 1e6, op + " GB/s");
    sum += ms;
    if (types[i] == "Relu") relu += ms;
  }
  // FC: 2 rows times 4 times 8 products, and a sum with each bias. Floats of 4 bytes are read and written.
  EXPECT_EQ(JsonAt(json, "/operators/1/multiply_adds"), "64");
  EXPECT_EQ(JsonAt(json, "/operators/1/flops"), "136");
  EXPECT_EQ(JsonAt(json, "/operators/1/bytes"), std::to_string(4 * (16 + 32 + 4 + 8)));
  EXPECT_EQ(JsonAt(json, "/operators/0/bytes"), std::to_string(4 * (16 + 16)));
  ExpectSame(At(json, "/overhead_ms"), median - sum, "overhead");
  EXPECT_EQ(JsonSize(json, "/types"), 3u);
  ExpectSame(At(json, "/types/Relu"), relu, "Relu");
  ExpectSame(At(json, "/types/FC"), At(json, "/operators/1/median_ms"), "FC");
}

// The rows of the table of bench: the cells of its line for an operator or a label.
std::vector<std::string> Cells(const std::string& table, const std::string& label) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string word; words >> word;) cells.push_back(word);
    for (size_t i = 0; i < std::min<size_t>(cells.size(), 2); ++i) {
      if (cells[i] == label) return cells;
    }
  }
  return {};
}

TEST_F(ConsistentNumbersTest, TheTableOfBenchListsTheCostliestFirstAndTheRestInOneRow) {
  const std::string table = Bench({});
  double before = 1e9;
  int rows = 0;
  std::istringstream lines(table.substr(table.find("cold ms")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.find("overhead") == std::string::npos) {
    std::istringstream words(line);
    std::string index, type, output;
    double ms = 0;
    words >> index >> type >> output >> ms;
    EXPECT_LE(ms, before) << line;
    before = ms;
    ++rows;
  }
  EXPECT_EQ(rows, 4);
  // The rows that are shown, the others and the overhead are the whole, up to the rounding of each.
  const std::string top = Bench({"--top", "2"});
  double percent = 0;
  std::istringstream shown(
      top.substr(top.find("cold ms"), top.find("by type:") - top.find("cold ms")));
  std::getline(shown, line);
  while (std::getline(shown, line)) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word.ends_with('%')) percent += std::stod(word);
    }
  }
  EXPECT_NEAR(percent, 100, 0.3) << top;
  EXPECT_THAT(Cells(top, "2"), ::testing::Contains("others"));
  EXPECT_TRUE(Cells(Bench({"--top", "4"}), "1").empty() ||
              Cells(Bench({"--top", "4"}), "1")[1] != "others");
  EXPECT_EQ(Cells(table.substr(table.find("by type:")), "Relu").at(1), "2");
  EXPECT_EQ(Cells(table.substr(table.find("by type:")), "FC").at(1), "1");
}

// Keys of 8 bytes; a record of "x" with two floats and "y" with an integer has 40.
TEST_F(ConsistentNumbersTest, RatesOfDatabasesFollowFromTheirCountsAndTimes) {
  Tensor x({3, 2}, CPU), y({3}, CPU);
  std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
  std::fill_n(y.mutable_data<int64_t>(), y.numel(), 1);
  WriteNpy(dir_.path("x.npy"), x);
  WriteNpy(dir_.path("y.npy"), y);
  const std::string db = dir_.path("a.lmdb");
  ASSERT_EQ(
      RunCaffe2({"db", "make", "arrays", dir_.path("x.npy"), dir_.path("y.npy"), "--output", db})
          .code,
      0);
  const struct {
    std::vector<std::string> options;
    int records, bytes;
  } cases[] = {{{}, 3, 3 * 48},
               {{"--readers", "2"}, 3, 3 * 48},
               {{"--batch-size", "2"}, 4, 4 * (8 + 4)},
               {{"--batch-size", "3"}, 3, 3 * (8 + 4)}};
  for (const auto& row : cases) {
    std::vector<std::string> args = {"db", "throughput", db, "--repeat", "2", "--json"};
    args.insert(args.end(), row.options.begin(), row.options.end());
    std::istringstream lines(RunCaffe2(args).out);
    int round = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(JsonAt(line, "/round"), std::to_string(++round));
      EXPECT_EQ(JsonAt(line, "/records"), std::to_string(row.records));
      EXPECT_EQ(JsonAt(line, "/bytes"), std::to_string(row.bytes));
      ExpectSame(At(line, "/records_per_second"), row.records / At(line, "/seconds"),
                 "records per second");
    }
    EXPECT_EQ(round, 2);
  }
}

}  // namespace
}  // namespace caffe2rt::test::consistent_numbers_test
