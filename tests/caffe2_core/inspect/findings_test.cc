// Tables of nets and plans with all that is found about them: kind, operators, path and text, whole.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_validation.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::findings_test {
namespace {

using ::testing::ElementsAreArray;
using Lines = std::vector<std::string>;

// "error 0,2: PATH | TEXT", with the missing type in brackets.
Lines LinesOf(const std::vector<NetFinding>& findings) {
  Lines lines;
  for (const NetFinding& finding : findings) {
    std::string line = NetFindingKindName(finding.kind);
    for (size_t i = 0; i < finding.ops.size(); ++i)
      line += MakeString(i == 0 ? " " : ",", finding.ops[i]);
    line += ": " + finding.path + (finding.path.empty() ? "" : "| ") + finding.text;
    if (!finding.missing_type.empty()) line += " [" + finding.missing_type + "]";
    lines.push_back(line);
  }
  return lines;
}

struct Row {
  const char* net;
  Lines lines;
};

TEST(FindingsTest, OfNets) {
  const std::vector<Row> rows = {
      {R"(op { type: "Relu" input: "x" output: "y" })", {}},
      {R"(type: "dagg")", {"error: net type \"dagg\" is not known; close: dag"}},
      {R"(type: "rnn")", {"note: net type \"rnn\" runs as simple: one operator after the other"}},
      {R"(type: "simple")", {}},
      {R"(type: "dag")", {}},
      {R"(external_input: "a" external_output: "a" external_output: "b" external_output: "c"
          op { type: "Relu" input: "a" output: "c" })",
       {"error: external_output \"b\" is not written by any operator"}},
      {R"(arg { name: "a" i: 1 } arg { name: "a" i: 1 } name: "n")",
       {"error: found argument \"a\" twice in net \"n\""}},
      {R"(device_option { device_type: 32 })",
       {"error: device type 32 is not known, want 0 to 31"}},
      {R"(device_option { device_type: -1 })",
       {"error: device type -1 is not known, want 0 to 31"}},
      {R"(device_option { device_type: 31 })",
       {"note: asks for the device device type 31, which is not available: it runs on the CPU "
        "(--device auto)"}},
      {R"(op { type: "Relu" input: "x" output: "y" device_option { device_type: 31 } }
          op { type: "Relu" input: "x" output: "z" }
          op { type: "Relu" input: "y" output: "q" device_option { device_type: 31 } })",
       {"note 0,2: asks for the device device type 31, which is not available: it runs on the CPU "
        "(--device auto)"}},
      {R"(op { type: "Relu" input: "x" output: "y" engine: "NOSUCH" }
          op { type: "Relu" input: "x" output: "z" engine: "DEFAULT" })",
       {"note 0: engine \"NOSUCH\" has no implementation on the device CPU: another one runs"}},
      {R"(op { type: "Relo" input: "x" output: "y" } op { type: "Relo" input: "x" output: "z" })",
       {"error 0,1: operator type \"Relo\" is not known; close: Relu [Relo]"}},
      {R"(op { type: "Onnxifi" })",
       {"error 0: operator type \"Onnxifi\" is known to Caffe2 but not available "
        "[Onnxifi]"}},
      {R"(op { type: "Relu" input: "x" output: "y" arg { name: "a" i: 1 } arg { name: "a" i: 1 }
               arg { name: "order" s: "NCHW" } })",
       {"warning 0: operator Relu: argument \"a\" is given twice",
        "warning 0: operator Relu: argument \"a\" is not known and has no effect"}},
      {R"(op { type: "Relu" input: "x" output: "y" arg { name: "a" i: 1 } arg { name: "a" i: 2 } })",
       {"error 0: operator Relu: Found argument of the same name a but with different contents in "
        "operator of type \"Relu\"",
        "warning 0: operator Relu: argument \"a\" is not known and has no effect"}},
      {R"(op { type: "Softmax" input: "x" output: "y" arg { name: "axes" i: 1 } })",
       {"warning 0: operator Softmax: argument \"axes\" is not known and has no effect; close: "
        "axis"}},
      {R"(op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "z" output: "y" })",
       {"note 0: output \"y\" is overwritten by operator 1 (Relu) before any operator reads it"}},
      {R"(external_input: "x" op { type: "Relu" input: "x" output: "y" }
          op { type: "Relu" input: "none" output: "z" })",
       {"error 1: op Relu: Source for input none is unknown for net , operator 1; add "
        "external_input: "
        "\"none\" to net \"\", which must list all of its inputs or none"}},
      {R"(op { type: "If" input: "c" arg { name: "then_net"
               n { type: "nosuch" op { type: "Nosuch2" } } } })",
       {"error 0: operator If: the net in argument \"then_net\" has type \"nosuch\", which is not "
        "known",
        "error: operator 0 (If), argument then_net: | net type \"nosuch\" is not known",
        "error 0: operator 0 (If), argument then_net: | operator type \"Nosuch2\" is not known "
        "[Nosuch2]"}},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(LinesOf(ValidateNet(ParseNet(row.net))), ElementsAreArray(row.lines)) << row.net;
  }
}

TEST(FindingsTest, OfPlans) {
  const std::vector<Row> rows = {
      {"", {"warning: the plan has no execution step"}},
      {R"(network { name: "a" } execution_step { name: "s" network: "a" network: "b" })",
       {"error: step \"s\": net \"b\" is not in the plan; close: a"}},
      {R"(network { name: "a" } network { name: "a" } execution_step { network: "a" })",
       {"error: two nets are named \"a\""}},
      {R"(network { name: "a" } execution_step { name: "s" network: "a" report_net: "a" })",
       {"error: step \"s\": report_net without report_interval"}},
      {R"(network { name: "a" } execution_step { name: "s" network: "a" report_net: "report"
            report_interval: 1 })",
       {"error: step \"s\": net \"report\" is not in the plan"}},
      {R"(network { name: "a" } execution_step { name: "s" network: "a" substep { network: "a" } })",
       {"error: step \"s\": it has both substeps and networks, want one of them"}},
      {R"(network { name: "a" } execution_step { name: "t" substep { name: "s" network: "a"
            num_iter: 2 should_stop_blob: "b" } })",
       {"error: step \"s\": num_iter is given with should_stop_blob, want one of them"}},
      {R"(network { name: "a" } execution_step { name: "s" network: "a" only_once: true })",
       {"error: step \"s\": only_once is given without should_stop_blob, which is not supported"}},
      {R"(execution_step { name: "s" num_concurrent_instances: 1025 substep { } })",
       {"error: step \"s\" runs 1025 threads at once with the steps below it, want at most 1024: "
        "lower num_concurrent_instances"}},
      {R"(network { name: "a" op { type: "Nosuch2" } } network { name: "b" type: "nosuch" }
          execution_step { network: "a" network: "b" })",
       {"error 0: net \"a\": | operator type \"Nosuch2\" is not known [Nosuch2]",
        "error: net \"b\": | net type \"nosuch\" is not known"}},
  };
  for (const Row& row : rows) {
    PlanDef plan;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(row.net, &plan)) << row.net;
    EXPECT_THAT(LinesOf(ValidatePlan(plan)), ElementsAreArray(row.lines)) << row.net;
  }
}

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

TEST(FindingsTest, OfInputsThatNothingFills) {
  const auto lines = [](const std::string& net, const ModelToCheck& model) {
    return LinesOf(ValidateModel(ParseNet(net), model));
  };
  const std::string fc = R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
  const NetDef init = ParseNet(R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2
                                       ints: 3 } })");
  const ModelToCheck with_init = {.init_nets = {&init}, .has_surroundings = true};
  EXPECT_THAT(
      lines(fc, {}),
      ElementsAreArray(Lines{"error: nothing fills \"x\", \"w\", \"b\", and the net declares no "
                             "external_input; --init-net and --input fill inputs"}));
  EXPECT_THAT(lines(R"(external_input: "x" external_input: "w" external_input: "b" )" + fc, {}),
              ElementsAreArray(Lines{}));
  EXPECT_THAT(
      lines(fc, with_init),
      ElementsAreArray(Lines{"error 0: no init net fills the weights \"b\" of FC",
                             "error 0: input \"x\" was not given; the net suggests the shape "
                             "float [N, 3]"}));
  ModelToCheck given = with_init;
  given.filled = {{"b", Floats({2})}};
  given.given = {{"x", Floats({1, 4})}};
  EXPECT_THAT(
      lines(fc, given),
      ElementsAreArray(
          Lines{"error 0: operator FC rejects the shapes of its inputs: input 0 (X) of shape [1, "
                "4] has rows "
                "of 4 at axis 1, but input 1 (W) of shape [2, 3] needs rows of 3: got 4, want 3"}));
  given.given = {{"x", Floats({1, 3})}};
  EXPECT_THAT(lines(fc, given), ElementsAreArray(Lines{}));
  EXPECT_THAT(
      lines(R"(op { type: "Relu" input: "y" output: "z" } )" + fc, given),
      ElementsAreArray(Lines{"error 0: operator Relu reads \"y\" before operator 1 writes it"}));
}

}  // namespace
}  // namespace caffe2rt::test::findings_test
