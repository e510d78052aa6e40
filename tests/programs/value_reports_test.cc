// The numbers of `caffe2 run --stats`, the messages of --check-finite, and the blobs of --fetch: of several runs, of empty
// and of infinite values.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::value_reports_test {
namespace {

using namespace std::string_literals;

class ValueReportsTest : public ProgramFolder {
 protected:
  ProgramResult RunNet(const std::string& net, const Words& more) const {
    dir_.Write("net.pbtxt", net);
    return Run(Joined({"run", "--predict-net", "DIR/net.pbtxt"}, more));
  }
  std::string OutOf(const std::string& net, const Words& more) const {
    const ProgramResult result = RunNet(net, more);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
};

constexpr char kSquare[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Sqr" input: "x" output: "y" name: "square" })";
// x = x - w.
constexpr char kCountdown[] = R"(name: "n" external_input: ["x", "w"] external_output: "x"
    op { type: "Sub" input: ["x", "w"] output: "x" })";

TEST_F(ValueReportsTest, StatsHaveTheLeastTheLargestAndTheMean) {
  const Words input = {"--input", "x=[1,2,3,6]", "--stats"};
  EXPECT_EQ(JsonAt(OutOf(kSquare, Joined(input, {"--json"})), "/stats"),
            R"([{"name":"x","type":"float [4]","elements":4,"min":1,"max":6,"mean":3,)"
            R"("nan":0,"infinite":0},)"
            R"({"name":"y","operator":0,"operator_type":"Sqr","type":"float [4]","elements":4,)"
            R"("min":1,"max":36,"mean":12.5,"nan":0,"infinite":0}])");
  const std::string text = OutOf(kSquare, input);
  EXPECT_NE(text.find("\n  blob  written by      type       min  max  mean  NaN\n"
                      "  x     input           float [4]    1    6     3    0\n"
                      "  y     0 Sqr \"square\"  float [4]    1   36  12.5    0\n"),
            std::string::npos)
      << text;
}

// Those of the last run.
TEST_F(ValueReportsTest, StatsOfSeveralRunsAreThoseOfOne) {
  const Words input = {"--input", "x=[8]", "--input", "w=[1]", "--stats", "--json"};
  const auto stats = [&](const char* runs) {
    const std::string json = OutOf(kCountdown, Joined(input, {"--iterations", runs}));
    std::string text;
    for (size_t i = 0; i < JsonSize(json, "/stats"); ++i) {
      const std::string row = "/stats/" + std::to_string(i);
      text += JsonAt(json, row + "/name") + JsonAt(json, row + "/min") +
              JsonAt(json, row + "/max") + JsonAt(json, row + "/mean") + " ";
    }
    return text + JsonAt(json, "/outputs/0/values");
  };
  EXPECT_EQ(stats("1"), "\"x\"888 \"w\"111 \"x\"777 [7]");
  EXPECT_EQ(stats("3"), "\"x\"666 \"w\"111 \"x\"555 [5]");
}

TEST_F(ValueReportsTest, StatsCountNaNAndInfinityApart) {
  Array("x.npy", {6}, {0, -1, 1, 0, -2, -3});
  const Words options = {"--input", "x=DIR/x.npy", "--stats", "--json"};
  const std::string json = OutOf(R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Log" input: "x" output: "y" })",
                                 options);
  EXPECT_EQ(JsonAt(json, "/stats/1/elements"), "6");
  EXPECT_EQ(JsonAt(json, "/stats/1/nan"), "3");
  EXPECT_EQ(JsonAt(json, "/stats/1/infinite"), "2");
  EXPECT_EQ(JsonAt(json, "/stats/1/min"), "\"-Infinity\"");
  EXPECT_EQ(JsonAt(json, "/stats/1/max"), "0");
  EXPECT_EQ(JsonAt(json, "/stats/1/mean"), "\"-Infinity\"");
}

TEST_F(ValueReportsTest, StatsOfNothingAreNaN) {
  const Words input = {"--input", "x=0", "--stats"};
  EXPECT_EQ(JsonAt(OutOf(kSquare, Joined(input, {"--json"})), "/stats/1"),
            R"({"name":"y","operator":0,"operator_type":"Sqr","type":"float [0]","elements":0,)"
            R"("min":"NaN","max":"NaN","mean":"NaN","nan":0,"infinite":0})");
  EXPECT_NE(
      OutOf(kSquare, input).find("\n  y     0 Sqr \"square\"  float [0]  NaN  NaN   NaN    0\n"),
      std::string::npos);
}

// Texts and counters have no numbers.
TEST_F(ValueReportsTest, StatsOfOtherBlobsAreTheirTypes) {
  const std::string net = R"(name: "n" external_input: "x" external_output: "y"
      op { type: "CreateCounter" output: "c" } op { type: "Copy" input: "x" output: "y" })";
  const Words input = {"--input", "x=[5]", "--stats"};
  const std::string json = OutOf(net, Joined(input, {"--json"}));
  ASSERT_EQ(JsonSize(json, "/stats"), 3u);
  EXPECT_EQ(JsonAt(json, "/stats/1/name"), "\"c\"");
  EXPECT_EQ(JsonAt(json, "/stats/1/operator"), "0");
  EXPECT_EQ(JsonSize(json, "/stats/1"), 4u) << JsonAt(json, "/stats/1");
  EXPECT_EQ(JsonAt(json, "/stats/2/operator"), "1");
  EXPECT_EQ(JsonAt(json, "/stats/2/mean"), "5");
  const std::string text = OutOf(net, input);
  EXPECT_NE(text.find("\n  y     1 Copy           "), std::string::npos) << text;
}

// --- --check-finite ---

TEST_F(ValueReportsTest, TheFirstValueThatIsNotFiniteIsDescribed) {
  const std::string net = R"(name: "n" external_input: ["x", "w"] external_output: "z"
      op { type: "Log" input: "x" output: "y" } op { type: "Mul" input: ["y", "w"] output: "z" })";
  const float nan = NAN, infinity = INFINITY;
  const struct {
    std::vector<float> x, w;
    bool by_init;
    std::string message;
  } rows[] = {
      {{1, nan, nan},
       {1, 1, 1},
       false,
       "input \"x\" has 2 NaN and 0 infinite of 3 elements, the first at element 1, before the net "
       "runs"},
      {{1, 1, 1},
       {infinity, 1, nan},
       false,
       "input \"w\" has 1 NaN and 1 infinite of 3 elements, the first at element 0, before the net "
       "runs"},
      {{1, 1, 1},
       {},
       true,
       "blob \"w\" has 1 NaN and 0 infinite of 3 elements, the first at element 2, before the net "
       "runs; an init net or the file sets it"},
      {{1, -1, 0},
       {1, 1, 1},
       false,
       "net \"n\", operator 0 (Log, inputs \"x\" float [3], output \"y\"): output \"y\" has 1 NaN "
       "and 1 infinite of 3 elements, the first at element 1"},
      {{1, 1, 1e30f},
       {3e38f, 3e38f, 3e38f},
       false,
       "net \"n\", operator 1 (Mul, inputs \"y\" float [3], \"w\" float [3], output \"z\"): output "
       "\"z\" has 0 NaN and 1 infinite of 3 elements, the first at element 2"}};
  for (const auto& row : rows) {
    Words options = {"--input", "x=" + Array("x.npy", {3}, row.x), "--check-finite"};
    if (row.by_init) {
      dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
          arg { name: "shape" ints: 3 } arg { name: "values" floats: [1, 1, nan] } })");
      options = Joined(options, {"--init-net", "DIR/init.pbtxt"});
    } else {
      options = Joined(options, {"--input", "w=" + Array("w.npy", {3}, row.w)});
    }
    const ProgramResult result = RunNet(net, options);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err, "caffe2: " + row.message + "\n");
  }
}

// A later run may fail, too.
TEST_F(ValueReportsTest, EveryRunIsChecked) {
  const std::string net = R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Sub" input: ["x", "w"] output: "x" } op { type: "Log" input: "x" output: "y" })";
  const Words options = {"--input", "x=[3]", "--input", "w=[1]", "--check-finite"};
  EXPECT_EQ(RunNet(net, Joined(options, {"--iterations", "2"})).code, 0);
  const ProgramResult third = RunNet(net, Joined(options, {"--iterations", "3"}));
  EXPECT_EQ(third.code, 1);
  EXPECT_EQ(
      third.err,
      "caffe2: net \"n\", operator 1 (Log, inputs \"x\" float [1], output \"y\"): output \"y\" "
      "has 0 NaN and 1 infinite of 1 element, the first at element 0\n");
}

// --- --fetch ---

TEST_F(ValueReportsTest, ABlobIsFetchedOnce) {
  const auto names = [&](const Words& more) {
    const std::string json =
        OutOf(kCountdown, Joined({"--input", "x=[8]", "--input", "w=[1]", "--json"}, more));
    std::string text;
    for (size_t i = 0; i < JsonSize(json, "/outputs"); ++i) {
      const std::string entry = "/outputs/" + std::to_string(i);
      text += JsonAt(json, entry + "/name") + JsonAt(json, entry + "/values");
      if (json.find("\"operator\"") != std::string::npos &&
          JsonSize(json, entry) == 5)  // name, type, dims, values, operator
        text += JsonAt(json, entry + "/operator");
    }
    return text;
  };
  EXPECT_EQ(names({}), "\"x\"[7]");
  EXPECT_EQ(names({"--fetch", "x"}), "\"x\"[7]");
  EXPECT_EQ(names({"--fetch", "w", "--fetch", "x", "--fetch", "w"}), "\"x\"[7]\"w\"[1]");
  EXPECT_EQ(names({"--fetch", "all"}), "\"x\"[8]\"w\"[1]\"x\"[7]0");
  for (const Words& all :
       {Words{"--fetch", "w", "--fetch", "all"}, Words{"--fetch", "all", "--fetch", "w"}}) {
    EXPECT_EQ(names(all), "\"x\"[8]\"w\"[1]\"x\"[7]0");
  }
}

// Scales are floats, and have as few digits as these need.
TEST_F(ValueReportsTest, QuantizedBlobsHaveAScaleAndAZeroPoint) {
  const std::string net = R"(name: "n" external_input: "x" external_output: "q"
      op { type: "Int8Quantize" input: "x" output: "q" arg { name: "Y_scale" f: 0.1 }
           arg { name: "Y_zero_point" i: 3 } })";
  EXPECT_EQ(
      JsonAt(OutOf(net, {"--input", "x=[1,2]", "--json"}), "/outputs/0"),
      R"({"name":"q","scale":0.1,"zero_point":3,"type":"uint8","dims":[2],"values":[13,23]})");
  EXPECT_NE(OutOf(net, {"--input", "x=[1,2]"})
                .find("\nq  quantized uint8 [2], scale 0.1, zero point 3\n  13 23\n"),
            std::string::npos);
}

// All values of a net are those that it has as written: no pass fuses operators.
TEST_F(ValueReportsTest, FetchingAllShowsTheNetAsWritten) {
  const std::string net = R"(name: "n" external_input: ["x", "w"] external_output: "z"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } }
      op { type: "Relu" input: "y" output: "z" })";
  Array("x.npy", {1, 1, 1, 2}, {3, -4});
  Array("w.npy", {1, 1, 1, 1}, {2});
  const Words input = {"--input", "x=DIR/x.npy", "--input", "w=DIR/w.npy", "--json"};
  for (const Words& more : {Words{"--fetch", "all"}, Words{"--stats", "--fetch", "all"}}) {
    const std::string json = OutOf(net, Joined(input, more));
    ASSERT_EQ(JsonSize(json, "/outputs"), 4u);
    EXPECT_EQ(JsonAt(json, "/outputs/2/name"), "\"y\"");
    EXPECT_EQ(JsonAt(json, "/outputs/2/operator"), "0");
    EXPECT_EQ(JsonAt(json, "/outputs/2/values"), "[6,-8]");
    EXPECT_EQ(JsonAt(json, "/outputs/3/operator"), "1");
    EXPECT_EQ(JsonAt(json, "/outputs/3/values"), "[6,0]");
  }
}

}  // namespace
}  // namespace caffe2rt::test::value_reports_test
