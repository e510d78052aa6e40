// Details of reports that depend on what is given: labels, receipts of other nets, names of written nets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::command_details_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommandDetailsTest : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> args) {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  TempDir dir_;
};

// --- quantize ---

// Scores of four examples with two classes, which the net passes on: the greatest are 0, 1, 1, 0.
class QuantizeDetailsTest : public CommandDetailsTest {
 protected:
  ProgramResult Quantize(const std::vector<std::string>& more) {
    Tensor x({4, 2, 1, 1}, CPU);
    const float scores[] = {3, 1, 1, 3, 2, 4, 5, 1};
    std::copy_n(scores, 8, x.mutable_data<float>());
    WriteNpz(dir_.path("x.npz"), {{"x", x}});
    std::vector<std::string> args = {"quantize",
                                     "--init-net",
                                     dir_.Write("init.pbtxt", R"(
            op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [2, 2, 1, 1] }
                 arg { name: "values" floats: [1, 0, 0, 1] } })"),
                                     "--predict-net",
                                     dir_.Write("net.pbtxt", R"(
            name: "n" external_input: "x" external_input: "w" external_output: "y"
            op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } })"),
                                     "--calibrate",
                                     dir_.path("x.npz"),
                                     "--output-predict-net",
                                     dir_.path("q.pbtxt")};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
};

TEST_F(QuantizeDetailsTest, MeasuresTheAccuracyOnlyWithLabels) {
  const ProgramResult without = Quantize({});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.out,
              AllOf(HasSubstr("4 examples\n"), Not(HasSubstr("accuracy")), Not(HasSubstr("f32:"))));
  EXPECT_THAT(without.out,
              ContainsRegex("int8, filters of 8 bits: (signal to noise|not measured)"));
  // The third is wrong. Blanks and empty lines are no labels.
  const std::string labels = dir_.Write("labels.txt", " 0 \r\n\n1\n0\n\t0\n");
  const ProgramResult with = Quantize({"--labels", labels});
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_THAT(with.out, HasSubstr("\nf32: accuracy 75.00 %\n"));
  const ProgramResult json = Quantize({"--labels", labels, "--json"});
  EXPECT_EQ(JsonAt(json.out, "/f32/accuracy"), "75");
  EXPECT_EQ(JsonAt(json.out, "/f32/layers"), "1");
  EXPECT_EQ(JsonAt(json.out, "/f32/int8_layers"), "0");
}

TEST_F(QuantizeDetailsTest, NamesLinesThatAreNoClass) {
  const struct {
    std::string text, error;
  } cases[] = {{"0\n1\nx\n", "line 3 of \""},
               {"0\n-1\n", "ends in \"-1\", want the number of a class"},
               {"\n \n", "contains no labels"}};
  for (const auto& [text, error] : cases) {
    const ProgramResult result = Quantize({"--labels", dir_.Write("labels.txt", text)});
    EXPECT_EQ(result.code, 1) << text;
    EXPECT_THAT(result.err, HasSubstr(error)) << text;
  }
}

// --- labels of run ---

TEST_F(CommandDetailsTest, WarnsOfLabelsThatFitNoOutput) {
  const std::string net = dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      external_output: "y" op { type: "Relu" input: "x" output: "y" })");
  Tensor x({2, 2}, CPU);
  const float scores[] = {3, 1, 1, 4};
  std::copy_n(scores, 4, x.mutable_data<float>());
  WriteNpy(dir_.path("x.npy"), x);
  const std::string input = "x=" + dir_.path("x.npy");
  const std::string three = dir_.Write("three.txt", "a\nb\nc\n"),
                    two = dir_.Write("two.txt", "a\nb\n");
  EXPECT_THAT(Run({"run", "--predict-net", net, "--input", input, "--labels", three}).err,
              HasSubstr("three.txt\" has 3 labels, but no output has as many classes"));
  // Two rows of two classes.
  const ProgramResult fits = Run({"run", "--predict-net", net, "--input", input, "--labels", two});
  EXPECT_THAT(fits.err, IsEmpty());
  EXPECT_THAT(fits.out, AllOf(ContainsRegex("3\\.000 +a"), ContainsRegex("4\\.000 +b")));
  // One output of four elements and one of two: the labels fit the second.
  const std::string split = dir_.Write("split.pbtxt", R"(name: "n" external_input: "x"
      external_output: "y" external_output: "s" op { type: "Copy" input: "x" output: "y" }
      op { type: "ReduceSum" input: "x" output: "s" arg { name: "axes" ints: 0 }
           arg { name: "keepdims" i: 0 } })");
  EXPECT_THAT(Run({"run", "--predict-net", split, "--input", input, "--labels", two}).err,
              IsEmpty());
}

TEST_F(CommandDetailsTest, TimeoutsEndAtABillionSeconds) {
  const std::string net = dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      external_output: "y" op { type: "Relu" input: "x" output: "y" })");
  for (const char* seconds : {"1e9", "1000000000", "0.5"})
    Run({"run", "--predict-net", net, "--input", "x=2", "--timeout", seconds});
  for (const char* seconds : {"1.1e9", "0", "-1", "nan", "1,2", "x"}) {
    const ProgramResult result =
        RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--timeout", seconds});
    EXPECT_EQ(result.code, 2) << seconds;
    EXPECT_THAT(result.err, HasSubstr("want a number of seconds above 0, at most 1e9")) << seconds;
  }
}

// --- receipt ---

class ReceiptDetailsTest : public CommandDetailsTest {
 protected:
  // The receipt of y = x * w, and z = Relu(y) if `more`.
  std::string Receipt(const std::string& name, bool more, const std::string& weight) {
    const std::string file = dir_.path(name);
    Run({"run", "--predict-net",
         dir_.Write("net.pbtxt",
                    std::string(R"(name: "r" external_input: "x" external_input: "w"
                        external_output: "y" op { type: "Mul" input: "x" input: "w" output: "y"
                        debug_info: "m.py:1" } )") +
                        (more ? R"(external_output: "z" op { type: "Relu" input: "y" output: "z"
                                   debug_info: "m.py:2" })"
                              : "")),
         "--init-net",
         dir_.Write("init.pbtxt",
                    "op { type: \"ConstantFill\" output: \"w\" arg { name: \"shape\" "
                    "ints: 2 } arg { name: \"value\" f: " +
                        weight + " } }"),
         "--input", "x=2", "--receipt", file, "--receipt-all"});
    return file;
  }
  ProgramResult Compare(const std::string& a, const std::string& b, bool json = false) {
    std::vector<std::string> args = {"receipt", "compare", a, b};
    if (json) args.push_back("--json");
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1) << result.err;
    return result;
  }
};

TEST_F(ReceiptDetailsTest, NamesResultsThatOnlyOneRunHas) {
  const std::string one = Receipt("one.json", false, "1"), two = Receipt("two.json", true, "1");
  EXPECT_THAT(Compare(one, two).out, AllOf(HasSubstr("different: 1 output, 1 result of operators\n"
                                                     "first operator: 1 Relu (m.py:2)\n"
                                                     "  output \"z\": missing and float [2], "),
                                           Not(HasSubstr("these differ, too"))));
  EXPECT_THAT(Compare(two, one).out, HasSubstr("first operator: 1 Relu (m.py:2)\n"
                                               "  output \"z\": float [2], "));
  EXPECT_THAT(Compare(two, one).out, ContainsRegex("\\[2\\], [0-9a-f]+ and missing\n"));
  const std::string json = Compare(one, two, true).out;
  EXPECT_EQ(JsonAt(json, "/first_operator/blob"), "\"z\"");
  EXPECT_EQ(JsonAt(json, "/first_operator/operator"), "\"1 Relu\"");
  EXPECT_EQ(JsonAt(json, "/first_operator/debug_info"), "\"m.py:2\"");
  EXPECT_EQ(JsonAt(json, "/first_operator/first"), "null");
  EXPECT_EQ(JsonAt(json, "/first_operator/second/shape/0"), "2");
  const std::string turned = Compare(two, one, true).out;
  EXPECT_EQ(JsonAt(turned, "/first_operator/first/type"), "\"float\"");
  EXPECT_EQ(JsonAt(turned, "/first_operator/second"), "null");
}

TEST_F(ReceiptDetailsTest, NamesOtherWeightsAndInputs) {
  const std::string one = Receipt("one.json", false, "1"), two = Receipt("two.json", false, "2");
  EXPECT_THAT(Compare(one, two).out, AllOf(HasSubstr("first operator: 0 Mul (m.py:1)\n"),
                                           HasSubstr("these differ, too:\n  weights\n")));
  const std::string json = Compare(one, two, true).out;
  EXPECT_EQ(JsonAt(json, "/first_operator/position"), "0");
  EXPECT_EQ(JsonAt(json, "/first_operator/operator"), "\"0 Mul\"");
  EXPECT_EQ(JsonAt(json, "/first_operator/debug_info"), "\"m.py:1\"");
  EXPECT_EQ(JsonAt(json, "/outputs/0/blob"), "\"y\"");
  EXPECT_EQ(json.find("\"position\"", json.find("\"outputs\"")), std::string::npos) << json;
  const std::string text = ReadWholeFile(one);
  EXPECT_EQ(JsonSize(text, "/inputs"), 1u);
  EXPECT_EQ(JsonAt(text, "/inputs/0/blob"), "\"x\"");
  EXPECT_EQ(JsonAt(text, "/weights/type"), "\"1 blobs\"");
}

// --- compare ---

TEST_F(CommandDetailsTest, ComparedBlobsHaveTheirOperatorsInBothNets) {
  const std::string first = dir_.Write("first.pbtxt", R"(name: "f" external_input: "x"
      op { type: "Relu" input: "x" output: "y" } op { type: "Exp" input: "y" output: "z" })"),
                    second = dir_.Write("second.pbtxt", R"(name: "s" external_input: "x"
      op { type: "Abs" input: "x" output: "t" } op { type: "Relu" input: "x" output: "y" }
      op { type: "Negative" input: "t" output: "u" } op { type: "Exp" input: "y" output: "z" })");
  const std::string json = RunCaffe2({"compare", first, second, "--input", "x=3", "--json"}).out;
  const std::map<std::string, std::pair<std::string, std::string>> want = {{"\"y\"", {"0", "1"}},
                                                                           {"\"z\"", {"1", "3"}}};
  ASSERT_EQ(JsonSize(json, "/blobs"), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string at = "/blobs/" + std::to_string(i), name = JsonAt(json, at + "/name");
    ASSERT_TRUE(want.contains(name)) << name;
    EXPECT_EQ(JsonAt(json, at + "/first_operator"), want.at(name).first) << name;
    EXPECT_EQ(JsonAt(json, at + "/second_operator"), want.at(name).second) << name;
  }
}

// --- nets that are written ---

TEST_F(CommandDetailsTest, OptimizedInitNetsKeepTheirName) {
  const std::string net =
      dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_input: "w"
      external_output: "y" op { type: "Mul" input: "x" input: "w" output: "y" })");
  const auto name_of = [&](const std::string& init) {
    Run({"optimize", "--init-net", init, "--predict-net", net, "--output-init-net",
         dir_.path("o.pbtxt"), "--output-predict-net", dir_.path("p.pbtxt")});
    return LoadNet(dir_.path("o.pbtxt")).name();
  };
  const std::string fill =
      R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } })";
  EXPECT_EQ(name_of(dir_.Write("a.pbtxt", "name: \"first\" " + fill)), "first");
}

// --- plans of trainings of a net without a definition ---

class TrainDetailsTest : public CommandDetailsTest {
 protected:
  // The plan for four points of two classes.
  PlanDef Plan(const std::vector<std::string>& more) {
    Tensor x({4, 2}, CPU), y({4}, CPU);
    for (int64_t i = 0; i < 8; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
    for (int64_t i = 0; i < 4; ++i) y.mutable_data<int32_t>()[i] = static_cast<int32_t>(i % 2);
    WriteNpy(dir_.path("x.npy"), x);
    WriteNpy(dir_.path("y.npy"), y);
    const std::string data = dir_.path("data.minidb"), file = dir_.path("plan.pbtxt");
    Run({"db", "make", "arrays", dir_.path("x.npy"), dir_.path("y.npy"), "--output", data});
    std::vector<std::string> args = {"train",
                                     "--predict-net",
                                     dir_.Write("used.pbtxt", R"(name: "used"
            op { type: "FC" input: ["data", "w", "b"] output: "scores" }
            op { type: "Softmax" input: "scores" output: "softmax" })"),
                                     "--init-net",
                                     init_,
                                     "--loss",
                                     "softmax",
                                     "--data",
                                     data,
                                     "--batch-size",
                                     "2",
                                     "--write-plan",
                                     file,
                                     "--output",
                                     dir_.path("run")};
    args.insert(args.end(), more.begin(), more.end());
    Run(args);
    PlanDef plan;
    LoadProto(file, &plan);
    return plan;
  }
  static std::vector<std::string> TypesOf(const NetDef& net) {
    std::vector<std::string> types;
    for (const OperatorDef& op : net.op()) types.push_back(op.type());
    return types;
  }

  const std::string init_ = dir_.Write("init.pbtxt", R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [2, 2] }
           arg { name: "values" floats: [1, 2, 3, 4] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } })");
};

TEST_F(TrainDetailsTest, APlanHasTheNameAndTheWeightsOfTheNet) {
  const PlanDef plan = Plan({});
  EXPECT_EQ(plan.name(), "used");
  EXPECT_EQ(plan.network(0).name(), "used_init");
  const OperatorDef& fill = plan.network(0).op(0);
  EXPECT_EQ(fill.type(), "GivenTensorFill");
  EXPECT_THAT(ArgumentHelper(fill).GetRepeatedArgument<float>("values"), ElementsAre(1, 2, 3, 4));
}

TEST_F(TrainDetailsTest, FreshWeightsAreDrawn) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--accuracy", "softmax"}, {"--seed", "3"}}) {
    std::vector<std::string> words = more;
    EXPECT_EQ(Plan(words).network(0).op(0).type(), "GivenTensorFill");
    words.push_back("--fresh-weights");
    EXPECT_EQ(Plan(words).network(0).op(0).type(), "XavierFill");
  }
}

// Whatever the weights come from, the plan loads them from a database beside its results.
TEST_F(TrainDetailsTest, APlanLoadsFirstWeightsFromItsFolder) {
  const PlanDef plan = Plan({"--init", init_});
  EXPECT_THAT(TypesOf(plan.network(0)), Contains("Load"));
  for (const OperatorDef& op : plan.network(0).op()) {
    if (op.type() != "Load") continue;
    EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<std::string>("db", ""),
              dir_.path("run/init.minidb"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::command_details_test
