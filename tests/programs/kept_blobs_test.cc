// What stays when nets are optimized, run again or searched for NaN, and which blobs count as weights: init nets whose
// operators fill several blobs, inputs that the net overwrites, inputs that an init net fills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/net_file.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::kept_blobs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class KeptBlobsTest : public ProgramFolder {
 protected:
  // The types of the operators of the init net that `caffe2 optimize` writes.
  Words Optimize(const std::string& init, const std::string& net) const {
    dir_.Write("init.pbtxt", init);
    dir_.Write("net.pbtxt", net);
    Out({"optimize", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt",
         "--output-init-net", "DIR/i.pbtxt", "--output-predict-net", "DIR/o.pbtxt"});
    Words types;
    const NetDef written = LoadNet(dir_.path("i.pbtxt"));
    for (const OperatorDef& op : written.op()) types.push_back(op.type());
    return types;
  }
  std::string Values(const std::string& init, const std::string& net, const Words& more) const {
    return JsonAt(
        Out(Joined({"run", "--init-net", "DIR/" + init, "--predict-net", "DIR/" + net, "--json"},
                   more)),
        "/outputs/0/values");
  }
};

// --- optimize ---

// y = x + a (as a column) + b (as a row, or as it is).
constexpr char kColumn[] = R"(name: "n" external_input: ["x", "a", "b"] external_output: "y"
    op { type: "Reshape" input: "a" output: ["c", "old"] arg { name: "shape" ints: [2, 1] } }
    op { type: "Add" input: ["x", "c"] output: "t" } )";
constexpr char kSum[] = R"(op { type: "Add" input: ["t", "b"] output: "y" } )";
constexpr char kSumOfRows[] =
    R"(op { type: "Reshape" input: "b" output: ["d", "older"] arg { name: "shape" ints: [1, 2] } }
       op { type: "Add" input: ["t", "d"] output: "y" } )";

TEST_F(KeptBlobsTest, AnOperatorOfAnInitNetStaysAsLongAsOneOfItsOutputsIsRead) {
  const std::string split = R"(
      op { type: "GivenTensorFill" output: "ab" arg { name: "shape" ints: 4 }
           arg { name: "values" floats: [1, 2, 3, 5] } }
      op { type: "Split" input: "ab" output: ["A", "B"] arg { name: "axis" i: 0 } })";
  const Words x = {"--input", "x=[[10,20],[30,40]]"};
  for (const bool swapped : {false, true}) {
    std::string init = split;
    init.replace(init.find("\"A\""), 3, swapped ? "\"b\"" : "\"a\"");
    init.replace(init.find("\"B\""), 3, swapped ? "\"a\"" : "\"b\"");
    EXPECT_THAT(Optimize(init, kColumn + std::string(kSum)),
                ElementsAre("GivenTensorFill", "Split", "GivenTensorFill"));
    // One is a column, the other a row: [1, 2] and [3, 5].
    const std::string sum = swapped ? "[14,25,36,47]" : "[14,26,35,47]";
    EXPECT_EQ(Values("init.pbtxt", "net.pbtxt", x), sum);
    EXPECT_EQ(Values("i.pbtxt", "o.pbtxt", x), sum);
    // Both are constants of another shape: only what is split is left of the init net.
    EXPECT_THAT(Optimize(init, kColumn + std::string(kSumOfRows)),
                ElementsAre("GivenTensorFill", "GivenTensorFill", "GivenTensorFill"));
    EXPECT_EQ(Values("i.pbtxt", "o.pbtxt", x), sum);
  }
}

TEST_F(KeptBlobsTest, ABlobThatANetInAnArgumentReadsIsStillFilled) {
  const Words types = Optimize(R"(
      op { type: "GivenTensorFill" output: "a" arg { name: "shape" ints: 2 }
           arg { name: "values" floats: [1, 2] } }
      op { type: "GivenTensorBoolFill" output: "yes" arg { name: "shape" ints: 1 }
           arg { name: "values" ints: 1 } }
      op { type: "If" input: "yes" output: "b" arg { name: "then_net"
           n { op { type: "Sqr" input: "a" output: "b" } } } })",
                               kColumn + std::string(kSum));
  EXPECT_THAT(types,
              ElementsAre("GivenTensorFill", "GivenTensorBoolFill", "If", "GivenTensorFill"));
  // b is [1, 4].
  EXPECT_EQ(Values("i.pbtxt", "o.pbtxt", {"--input", "x=[[10,20],[30,40]]"}), "[12,25,33,46]");
}

// --- runs ---

// The net negates its input before it takes the root.
constexpr char kNegative[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Negative" input: "x" output: "x" } op { type: "Sqrt" input: "x" output: "y" })";

TEST_F(KeptBlobsTest, TheSearchForNaNBeginsWithTheInputsAsTheyWereGiven) {
  dir_.Write("net.pbtxt", kNegative);
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt"};
  const std::string origin = "the first is in blob \"y\", written by operator 1 (Sqrt)\n";
  EXPECT_EQ(Run(Joined(run, {"--input", "x=[4,-9]"})).err,
            "caffe2: warning: output \"y\" has NaN in 1 of 2 elements; " + origin);
  EXPECT_THAT(Out(Joined(run, {"--input", "x=[-4,-9]"})), HasSubstr("\n  2 3\n"));
  // The second of two runs negates what the first has negated.
  const Words twice = Joined(run, {"--iterations", "2", "--input"});
  EXPECT_EQ(Run(Joined(twice, {"x=[-4,-9]"})).err,
            "caffe2: warning: output \"y\" has NaN in 2 of 2 elements; " + origin);
  EXPECT_EQ(Run(Joined(twice, {"x=[4,9]"})).err, "");
  const std::string json = Run(Joined(twice, {"x=[-4,9]", "--json"})).out;
  EXPECT_EQ(JsonAt(json, "/nan"), R"({"output":"y","elements":2,"nan":1,"blob":"y","operator":1,)"
                                  R"("operator_text":"Sqrt"})");
}

// Each of the inputs that the net overwrites.
TEST_F(KeptBlobsTest, TheSearchForNaNHasAllInputs) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "z", "w"] external_output: "y"
      op { type: "Negative" input: "x" output: "x" } op { type: "Negative" input: "z" output: "z" }
      op { type: "Negative" input: "w" output: "w" }
      op { type: "Sum" input: ["x", "z", "w"] output: "s" }
      op { type: "Sqrt" input: "s" output: "y" })");
  for (const Words& values : {Words{"[1]", "[1]", "[3]"},
                              {"[1]", "[3]", "[1]"},
                              {"[3]", "[1]", "[1]"},
                              {"[-1]", "[-1]", "[3]"},
                              {"[-1]", "[3]", "[-1]"}}) {
    EXPECT_EQ(Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=" + values[0], "--input",
                   "z=" + values[1], "--input", "w=" + values[2]})
                  .err,
              "caffe2: warning: output \"y\" has NaN in 1 of 1 element; the first is in blob "
              "\"y\", written by operator 4 (Sqrt)\n");
  }
}

TEST_F(KeptBlobsTest, ThePreparationIsThatOfTheFirstOfTwoRuns) {
  dir_.Write("net.pbtxt", kNegative);
  for (const auto& [iterations, included] : {std::pair("1", true), {"2", false}, {"3", false}}) {
    const Words run = {"run",     "--predict-net", "DIR/net.pbtxt", "--input",
                       "x=[0,0]", "--iterations",  iterations};
    const std::string json = Out(Joined(run, {"--json"}));
    EXPECT_EQ(JsonAt(json, "/includes_preparation"), included ? "true" : "false") << iterations;
    EXPECT_EQ(json.find("ahead_milliseconds") == std::string::npos, included) << iterations;
    EXPECT_THAT(Out(run), EndsWith(included ? " ms per run, 1 thread, with the preparation of the "
                                              "first run (details: caffe2 bench)\n"
                                            : " ms per run, 1 thread (details: caffe2 bench)\n"));
  }
}

// The first file runs alone, and is compared with its rows in the first batch.
TEST_F(KeptBlobsTest, FilesThatTheNetOverwritesRunInBatches) {
  dir_.Write("net.pbtxt", kNegative);
  for (const auto& [name, value] :
       {std::pair("in/a.npy", -4.f), {"in/b.npy", -9.f}, {"in/c.npy", -16.f}, {"in/d.npy", -25.f}})
    Array(name, {1, 1}, {value});
  for (const char* batch : {"1", "2", "3", "8"}) {
    const std::string json = Out(
        {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", batch, "--json"});
    ASSERT_EQ(JsonSize(json, "/images"), 4u);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(JsonAt(json, "/images/" + std::to_string(i) + "/outputs/0/values"),
                "[" + std::to_string(i + 2) + "]")
          << batch;
  }
}

// Files of one shape and of several types.
TEST_F(KeptBlobsTest, ABatchHasOneType) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const std::string types = "fdifdfdi";  // float, double, int32
  Tensor number(std::vector<int64_t>{1, 1}, CPU);
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name = "in/" + std::to_string(i) + ".npy";
    Array(name, {1, 1}, {static_cast<float>(i)});
    if (types[i] == 'f') continue;
    if (types[i] == 'd') number.mutable_data<double>()[0] = static_cast<double>(i);
    if (types[i] == 'i') number.mutable_data<int32_t>()[0] = static_cast<int32_t>(i);
    WriteNpy(dir_.path(name), number);
  }
  for (const char* batch : {"1", "2", "3"}) {
    const ProgramResult result = Run(
        {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", batch, "--json"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "") << batch;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string output = "/images/" + std::to_string(i) + "/outputs/0";
      EXPECT_EQ(JsonAt(result.out, output + "/type"), types[i] == 'f'   ? "\"float\""
                                                      : types[i] == 'd' ? "\"double\""
                                                                        : "\"int32\"");
      EXPECT_EQ(JsonAt(result.out, output + "/values"), "[" + std::to_string(i) + "]");
    }
  }
}

// Rows depend on the others of their batch, or are one for the whole batch. That is reported once, and each file runs alone.
TEST_F(KeptBlobsTest, ANetWhoseRowsDependOnOthersIsReportedOnce) {
  const std::string most = R"(external_input: "x" external_output: "y"
      op { type: "ReduceMax" input: "x" output: "m" arg { name: "axes" ints: 0 }
           arg { name: "keepdims" i: 1 } } )";
  for (int i = 1; i <= 7; ++i)
    Array("in/" + std::to_string(i) + ".npy", {1, 1}, {static_cast<float>(i)});
  const struct {
    std::string net, reason, value;
  } rows[] = {{R"(op { type: "Sub" input: ["x", "m"] output: "y" })",
               "output \"y\" for \"DIR/in/1.npy\" differs between a batch and a run alone", "0"},
              {R"(op { type: "Copy" input: "m" output: "y" })",
               "output \"y\" of a batch of 3 is float [1, 1]", ""}};
  for (const auto& row : rows) {
    dir_.Write("net.pbtxt", "name: \"n\" " + most + row.net);
    const ProgramResult result = Run(
        {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err,
              "caffe2: warning: net \"n\" runs on one file at a time: " + row.reason + "\n");
    ASSERT_EQ(JsonSize(result.out, "/images"), 7u);
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(JsonAt(result.out, "/images/" + std::to_string(i) + "/outputs/0/values"),
                "[" + (row.value.empty() ? std::to_string(i + 1) : row.value) + "]");
  }
}

// --- weights and inputs ---

class KeptInputsTest : public KeptBlobsTest {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w=v"] external_output: "z"
        op { type: "Mul" input: ["x", "w=v"] output: "y" }
        op { type: "Sqr" input: "y" output: "z" })");
    dir_.Write("init.pbtxt", R"(
        op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 10 }
             arg { name: "value" f: 1 } }
        op { type: "ConstantFill" output: "w=v" arg { name: "shape" ints: 10 }
             arg { name: "value" f: 1 } })");
  }
  const Words inspect_ = {"inspect", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
};

// The name of an input ends at the last "=". A weight is not drawn.
TEST_F(KeptInputsTest, AnInputOfTheOptionIsNoWeight) {
  const auto parameters = [&](const Words& more) {
    return JsonAt(Out(Joined(inspect_, Joined(more, {"--json"}))), "/nets/0/parameters");
  };
  const auto drawn = [&](const Words& more) {
    return Out(Joined(inspect_, Joined(more, {"--dot", "-"})));
  };
  const Words x = {"--input", "x=10"}, w = {"--input", "w=v=10"};
  EXPECT_EQ(parameters({}), "20");
  EXPECT_EQ(parameters(x), "10");
  EXPECT_EQ(parameters(w), "10");
  EXPECT_EQ(parameters(Joined(x, w)), "0");
  EXPECT_THAT(drawn(x), Not(HasSubstr("w=v")));
  EXPECT_THAT(drawn(x), HasSubstr("[label=\"x\\ninput: float [10]\""));
  EXPECT_THAT(drawn(w), HasSubstr("[label=\"w=v\\ninput: float [10]\""));
}

// Ten floats are 40 bytes.
TEST_F(KeptInputsTest, MemoryOfAnInputIsThatOfTheOption) {
  const auto memory = [&](const Words& more, const Words& model = {}) {
    const std::string json = Out(Joined(model.empty() ? inspect_ : model,
                                        Joined(more, {"--memory", "--json"}))),
                      at = "/nets/0/memory";
    return JsonAt(json, at + "/weight_bytes") + " " + JsonAt(json, at + "/input_bytes");
  };
  EXPECT_EQ(memory({"--input", "x=10"}), "40 40");
  EXPECT_EQ(memory({"--input", "x=10", "--input", "w=v=10"}), "0 80");
  EXPECT_EQ(memory({"--input", "x=10"}, {"inspect", "DIR/net.pbtxt"}), "0 40");
}

TEST_F(KeptInputsTest, AWeightOfAPackedModelMayBeAnInput) {
  Out({"pack", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "DIR/p.c2"});
  const auto total = [&](const Words& more) {
    const std::string out = Out(Joined({"inspect", "DIR/p.c2"}, more));
    return out.substr(out.find("total: "), out.find(" parameters") - out.find("total: "));
  };
  EXPECT_EQ(total({"--input", "x=10"}), "total: 10");
  EXPECT_EQ(total({"--input", "x=10", "--input", "w=v=10"}), "total: 0");
  const ProgramResult other = Run({"check", "DIR/p.c2", "--input", "x=3"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("input 1 (B) has shape [10], which does not fit input 0"));
}

}  // namespace
}  // namespace caffe2rt::test::kept_blobs_test
