// What compare, db, plan, gradients and inspect report, as whole texts.

#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::whole_report_test {
namespace {

constexpr char kFirst[] = R"(
name: "first" external_input: "x" external_output: "z"
op { type: "Abs" input: "x" output: "y" name: "size" }
op { type: "Sqrt" input: "y" output: "z" name: "root" }
op { type: "Copy" input: "z" output: "only" })";
constexpr char kSecond[] = R"(
name: "second" external_input: "x" external_output: "z"
op { type: "Abs" input: "x" output: "y" }
op { type: "Sqr" input: "y" output: "z" }
op { type: "Copy" input: "y" output: "more" })";

class WholeReportTest : public ::testing::Test {
 protected:
  // The standard output of a command that says nothing on stderr, with DIR for the folder of the test and T for times.
  std::string Text(const std::vector<std::string>& args, int code = 0) const {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, code);
    // Builds without NDEBUG have protobuf's words about text that is not UTF-8, in files whose kind is found by trying.
    EXPECT_EQ(std::regex_replace(result.err, std::regex("\\[libprotobuf .*UTF-8.*\n"), ""), "");
    std::string plain = absl::StrReplaceAll(result.out, {{dir_.path(""), "DIR/"}});
    plain = std::regex_replace(plain, std::regex("[0-9.]+ ms"), "T ms");
    return std::regex_replace(plain, std::regex("milliseconds\": [^,}]+"), "milliseconds\": T");
  }
  template <class T>
  std::string Array(const std::string& name, std::vector<int64_t> dims,
                    const std::vector<T>& values) const {
    Tensor tensor(std::move(dims), CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  const TempDir dir_;
};

// Of -4, the first net makes 2 and the second 16: 14 = 0.875 * 16; 10 log10(16^2 / 14^2) = 1.16.
TEST_F(WholeReportTest, CompareListsValuesAndTheirDifferences) {
  const auto compare = [&](std::vector<std::string> more, int code) {
    std::vector<std::string> args = {"compare", dir_.Write("first.pbtxt", kFirst),
                                     dir_.Write("second.pbtxt", kSecond), "--input",
                                     "x=" + Array<float>("x.npy", {2}, {0, -4})};
    args.insert(args.end(), more.begin(), more.end());
    return Text(args, code);
  };
  EXPECT_EQ(compare({}, 1),
            R"(     blob  written by  max abs  max rel  SNR dB  beyond  of       type
     y     0 Abs             0        0   equal       0   2  float [2]
  !  z     1 Sqrt           14    0.875    1.16       1   2  float [2]
only in the first, DIR/first.pbtxt: "only"
only in the second, DIR/second.pbtxt: "more"
1 of 4 blobs differ (tolerance: |first - second| <= 0.0001 + 0.0001 * |second|)
first difference: blob "z", operator 1 (Sqrt "root")
)");
  EXPECT_EQ(compare({"--tol", "14,0.5"}, 0),
            R"(    blob  written by  max abs  max rel  SNR dB  beyond  of       type
    y     0 Abs             0        0   equal       0   2  float [2]
    z     1 Sqrt           14    0.875    1.16       0   2  float [2]
only in the first, DIR/first.pbtxt: "only"
only in the second, DIR/second.pbtxt: "more"
2 blobs agree (tolerance: |first - second| <= 14 + 0.5 * |second|)
)");
  EXPECT_EQ(
      compare({"--json"}, 1),
      R"({"first": "DIR/first.pbtxt", "second": "DIR/second.pbtxt", "within": false, )"
      R"("absolute_tolerance": 1e-04, "relative_tolerance": 1e-04, "blobs": [)"
      R"({"name": "y", "within": true, "first_operator": 0, "second_operator": 0, "type": "float [2]", )"
      R"("elements": 2, "beyond": 0, "max_absolute": 0, "max_relative": 0, "largest": 4}, )"
      R"({"name": "z", "within": false, "first_operator": 1, "second_operator": 1, "type": "float [2]", )"
      R"("elements": 2, "beyond": 1, "max_absolute": 14, "max_relative": 0.875, "largest": 16, )"
      R"("snr_db": 1.1598389395537347}], "only_in_first": ["only"], "only_in_second": ["more"], )"
      R"("first_difference": {"name": "z", "operator": 1, "operator_text": "Sqrt \"root\""}})"
      "\n");
}

TEST_F(WholeReportTest, DatabasesAreListedAndCounted) {
  const std::string x = Array<float>("x.npy", {3, 2}, {0, 1, 2, 3, 4, 5}),
                    y = Array<int64_t>("y.npy", {3}, {1, 0, 1});
  const std::string db = dir_.path("a.lmdb");
  EXPECT_EQ(Text({"db", "make", "arrays", x, y, "--output", db}), "DIR/a.lmdb: 3 records\n");
  // A record is two TensorProtos: "x" of two floats and "y" of an integer, each of 2 + n bytes.
  EXPECT_EQ(Text({"db", "list", db, "--limit", "2"}), R"(  key       bytes  label  content
  00000000     40      1  float [2], int32 []
  00000001     40      0  float [2], int32 []
--limit 0 lists all records
)");
  EXPECT_EQ(Text({"db", "list", db, "--json"}),
            R"({"key": "00000000", "bytes": 40, "content": "float [2], int32 []", "label": 1}
{"key": "00000001", "bytes": 40, "content": "float [2], int32 []", "label": 0}
{"key": "00000002", "bytes": 40, "content": "float [2], int32 []", "label": 1}
)");
  EXPECT_EQ(Text({"db", "info", db}), R"(DIR/a.lmdb: lmdb, 3 records, 120 bytes
  3 of float [2], int32 []
labels
  label  records
      0        1
      1        2
)");
  EXPECT_EQ(Text({"db", "info", db, "--json"}),
            R"({"database": "DIR/a.lmdb", "type": "lmdb", "records": 3, "bytes": 120, )"
            R"("contents": {"float [2], int32 []": 3}, "labels": {"0": 1, "1": 2}})"
            "\n");
  EXPECT_EQ(Text({"inspect", db, "--limit", "1"}), R"(DIR/a.lmdb: an LMDB database, 3 entries
  00000000: x  float [2]
  00000000: y  int32 []
  ... --limit 3 prints all
)");
  EXPECT_EQ(Text({"inspect", db, "--json", "--limit", "1"}),
            R"({"file": "DIR/a.lmdb", "kind": "lmdb", "entries": 3, "tensors": [)"
            R"({"name": "00000000: x", "type": "float", "dims": [2]}, )"
            R"({"name": "00000000: y", "type": "int32", "dims": []}]})"
            "\n");
}

TEST_F(WholeReportTest, PlansPrintFetchedTensorsInRows) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(
      name: "p"
      network { name: "fill"
        op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 2 ints: 11 ints: 12 }
             arg { name: "value" f: 1.5 } }
        op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 2 ints: 2 }
             arg { name: "values" strings: "a" strings: "bcd" strings: "" strings: "ef" } }
        op { type: "ConstantFill" output: "e" arg { name: "shape" ints: 0 } } }
      execution_step { name: "step" network: "fill" num_iter: 2 })");
  std::string want = "t  float [2, 11, 12]\n";
  for (int row = 0; row < 20; ++row) {
    if (row % 11 == 0) want += row == 0 ? "  [0, :, :]\n" : "  [1, :, :]\n";
    want += "  1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 ...\n";
  }
  want += R"(  ... 2 more rows
s  string [2, 2]
    "a" "bcd"
     ""  "ef"
e  float [0]
plan "p" done: 1 net, 1 step, T ms
)";
  EXPECT_EQ(Text({"plan", plan, "--fetch", "t", "--fetch", "s", "--fetch", "e"}), want);
  EXPECT_EQ(
      Text({"plan", plan, "--fetch", "s", "--json"}),
      R"({"plan": "p", "milliseconds": T, "outputs": [{"name": "s", "type": "string", "dims": [2, 2], )"
      R"("values": ["a", "bcd", "", "ef"]}]})"
      "\n");
}

// No machine fills 128 MiB in half a millisecond.
TEST_F(WholeReportTest, PlansStateMilliseconds) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(
      name: "p" network { name: "fill" op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 33554432 } } }
      execution_step { name: "step" network: "fill" })");
  const ProgramResult result = RunCaffe2({"plan", plan, "--json"});
  EXPECT_GE(std::stod(JsonAt(result.out, "/milliseconds")), 0.5);
}

// y = x * w, loss = the sum of y: the gradient of x is w and that of w is x.
TEST_F(WholeReportTest, VerifiedGradientsAreListed) {
  const std::string net = dir_.Write("loss.pbtxt", R"(
      name: "l" external_input: "x" external_input: "w" external_output: "loss"
      op { type: "Mul" input: "x" input: "w" output: "y" }
      op { type: "SumElements" input: "y" output: "loss" })");
  const std::vector<std::string> args = {"gradients", "--predict-net", net,    "--loss",  "loss",
                                         "--verify",  "--input",       "x=1.", "--input", "w=3."};
  EXPECT_EQ(Text(args),
            R"(  blob  gradient  elements  not smooth  wrong  worst at  computed  quotient
  w     w_grad           1           0      0         0         1         1
  x     x_grad           1           0      0         0         3         3
)");
  // With a file to write, too, nothing else is printed.
  std::vector<std::string> written = args;
  written.insert(written.end(), {"--output", dir_.path("g.pbtxt")});
  EXPECT_EQ(Text(written), Text(args));
  EXPECT_TRUE(std::filesystem::exists(dir_.path("g.pbtxt")));
  std::vector<std::string> json = args;
  json.emplace_back("--json");
  EXPECT_EQ(
      Text(json),
      R"({"verified": [{"blob": "w", "gradient": "w_grad", "elements": 1, "not_smooth": 0, "wrong": 0, )"
      R"("worst": {"element": 0, "computed": 1, "quotient": 1}}, )"
      R"({"blob": "x", "gradient": "x_grad", "elements": 1, "not_smooth": 0, "wrong": 0, )"
      R"("worst": {"element": 0, "computed": 3, "quotient": 3}}]})"
      "\n");
}

// Two steps run net "a", which is drawn once; net "b" reports, too.
TEST_F(WholeReportTest, APlanIsDrawnWithEachNetOnce) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(
      name: "p"
      network { name: "a" op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 2 } } }
      network { name: "b" op { type: "Relu" input: "t" output: "u" } }
      execution_step { name: "s" substep { name: "one" network: "a" num_iter: 2 }
        substep { name: "two" network: "b" network: "a" report_net: "b" report_interval: 1 num_iter: 3 } })");
  EXPECT_EQ(Text({"inspect", plan, "--dot", "-"}), R"(digraph "p" {
  node [shape=box, style=filled, fontname="sans-serif"];
subgraph cluster_0 {
  label="net \"a\", in step \"one\", 2 times";
  n0 [label="ConstantFill  shape [2]\nt\nfloat [2]", fillcolor="#f1f4d3"];
}
subgraph cluster_1 {
  label="net \"b\", in step \"two\", 3 times";
  n1 [label="Relu\nu\nfloat [2]", fillcolor="#fbe1d7"];
  n2 [label="u\noutput: float [2]", shape=ellipse, fillcolor=white];
}
  n0 -> n1 [label="t"];
  n1 -> n2 [label="u"];
}
)");
}

constexpr char kBad[] = R"(name: "bad" type: "rnn" external_input: "x" external_output: "never"
op { type: "Convv" input: "x" output: "a" }
op { type: "LeakyRelu" input: "x" output: "e" arg { name: "alpa" f: 1 } })";

// A net with an operator that is not known, `count` times.
std::string Unknown(int count) {
  std::string net = "name: 'n' external_input: 'x' ";
  for (int i = 0; i < count; ++i)
    net += "op { type: 'Convv' input: 'x' output: 'y" + std::to_string(i) + "' } ";
  return net;
}

constexpr char kUnknownType[] =
    "operator type \"Convv\" is not known; close: Conv, Conv1D, Conv1DGradient";

TEST_F(WholeReportTest, CheckCountsAndListsItsFindings) {
  const std::string bad = dir_.Write("bad.pbtxt", kBad), fine = dir_.Write("fine.pbtxt", R"(
      name: "f" external_input: "x" op { type: "Relu" input: "x" output: "y" })");
  EXPECT_EQ(Text({"check", bad, fine}, 1),
            std::string(R"(DIR/bad.pbtxt: net "bad": 2 errors, 1 warning, 1 note
  error: external_output "never" is not written by any operator
  error: operator 0: )") +
                kUnknownType +
                R"(
  warning: operator 1: operator LeakyRelu: argument "alpa" is not known and has no effect; close: alpha
  note: net type "rnn" runs as simple: one operator after the other
DIR/fine.pbtxt: net "f": fine
)");
  EXPECT_EQ(Text({"check", fine}), "DIR/fine.pbtxt: net \"f\": fine\n");
  EXPECT_EQ(
      Text({"check", bad, fine, "--json"}, 1),
      R"([{"file": "DIR/bad.pbtxt", "subject": "net \"bad\"", "findings": [)"
      R"({"kind": "error", "operators": [], "path": "", "text": "external_output \"never\" is not written by any operator"}, )"
      R"({"kind": "error", "operators": [0], "path": "", "text": "operator type \"Convv\" is not known; close: Conv, )"
      R"(Conv1D, Conv1DGradient", "missing_operator": "Convv"}, )"
      R"({"kind": "warning", "operators": [1], "path": "", "text": "operator LeakyRelu: argument \"alpa\" is not known )"
      R"(and has no effect; close: alpha"}, )"
      R"({"kind": "note", "operators": [], "path": "", "text": "net type \"rnn\" runs as simple: one operator after the )"
      R"(other"}], "missing_operators": ["Convv"], "errors": 2}, )"
      R"({"file": "DIR/fine.pbtxt", "subject": "net \"f\"", "findings": [], "missing_operators": [], "errors": 0}])"
      "\n");
  const std::pair<int, const char*> positions[] = {
      {1, "operator 0"},
      {3, "operators 0, 1, 2"},
      {12, "operators 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"},
      {14, "operators 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"}};
  for (const auto& [count, text] : positions) {
    EXPECT_EQ(Text({"check", dir_.Write("n.pbtxt", Unknown(count))}, 1),
              std::string("DIR/n.pbtxt: net \"n\": 1 error\n  error: ") + text + ": " +
                  kUnknownType + "\n");
  }
}

TEST_F(WholeReportTest, CheckGoesOnBehindAFileThatItCannotRead) {
  const std::string fine = dir_.Write("fine.pbtxt", R"(
      name: "f" external_input: "x" op { type: "Relu" input: "x" output: "y" })");
  for (const bool json : {false, true}) {
    std::vector<std::string> args = {"check", dir_.path("none.pb"), fine};
    if (json) args.emplace_back("--json");
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1);
    const std::string error =
        "cannot read \"DIR/none.pb\": cannot open \"DIR/none.pb\": No such file or directory";
    EXPECT_EQ(absl::StrReplaceAll(result.err, {{dir_.path(""), "DIR/"}}),
              "caffe2: " + error + "\n");
    EXPECT_EQ(absl::StrReplaceAll(result.out, {{dir_.path(""), "DIR/"}}),
              json
                  ? R"([{"file": "DIR/none.pb", "error": ")" +
                        absl::StrReplaceAll(error, {{"\"", "\\\""}}) +
                        R"("}, {"file": "DIR/fine.pbtxt", "subject": "net \"f\"", "findings": [], )"
                        R"("missing_operators": [], "errors": 0}])"
                        "\n"
                  : "DIR/fine.pbtxt: net \"f\": fine\n");
  }
}

}  // namespace
}  // namespace caffe2rt::test::whole_report_test
