#include "caffe2_core/graph/drawing/weight_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::weight_inputs_test {
namespace {

using ::testing::ElementsAre;

// For each input of the last operator, "w" if it is a weight, or else "-".
std::string WeightsOf(const std::string& text, const std::set<std::string>& parameters = {}) {
  const NetDef net = ParseNet(text);
  const NetBlobs blobs(net);
  const size_t op = blobs.num_operators() - 1;
  std::string found;
  for (size_t k = 0; k < blobs.inputs(op).size(); ++k) {
    found += IsWeightInput(net, blobs, parameters, op, k) ? "w" : "-";
  }
  return found;
}

class WeightInputsTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }
};

TEST_F(WeightInputsTest, TypesAndArgumentsDecideIfNoParametersAreKnown) {
  EXPECT_EQ(WeightsOf(R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })"), "-ww");
  EXPECT_EQ(WeightsOf(R"(op { type: "Sum" input: "x" input: "w" output: "y" })"), "--");
  const std::string mul = R"(op { type: "Mul" input: "x" input: "w" output: "y" )";
  const std::string broadcast = R"(arg { name: "broadcast" i: 1 } )",
                    axis = R"(arg { name: "axis" i: 1 } )";
  EXPECT_EQ(WeightsOf(mul + "}"), "--");
  EXPECT_EQ(WeightsOf(mul + broadcast + "}"), "--");
  EXPECT_EQ(WeightsOf(mul + axis + "}"), "--");
  EXPECT_EQ(WeightsOf(mul + axis + R"(arg { name: "broadcast" i: 0 } })"), "--");
  EXPECT_EQ(WeightsOf(mul + broadcast + axis + "}"), "-w");
  EXPECT_EQ(WeightsOf(mul + R"(input: "z" )" + broadcast + axis + "}"), "---");
  EXPECT_EQ(WeightsOf(R"(op { type: "MatMul" input: "x" input: "w" output: "y" )" + broadcast +
                      axis + "}"),
            "--");
}

TEST_F(WeightInputsTest, ParametersDecideIfTheyAreKnown) {
  const std::string fc = R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
  EXPECT_EQ(WeightsOf(fc, {"w"}), "-w-");
  EXPECT_EQ(WeightsOf(fc, {"other"}), "---");
  EXPECT_EQ(WeightsOf(R"(op { type: "Sum" input: "x" input: "w" output: "y" })", {"w"}), "-w");
  // The first input is a weight if another one is none: an init net may fill all of them.
  EXPECT_EQ(WeightsOf(fc, {"x", "w"}), "ww-");
  EXPECT_EQ(WeightsOf(fc, {"x", "w", "b"}), "-ww");
  EXPECT_EQ(WeightsOf(R"(op { type: "Relu" input: "x" output: "y" })", {"x"}), "-");
}

TEST_F(WeightInputsTest, OperatorsThatUpdateAnInputHaveOnlyWeights) {
  EXPECT_EQ(WeightsOf(R"(op { type: "T" input: "g" input: "w" output: "w" })"), "ww");
  EXPECT_EQ(WeightsOf(R"(op { type: "T" input: "w" input: "g" output: "w" })"), "ww");
  EXPECT_EQ(WeightsOf(R"(op { type: "T" input: "x" output: "w" }
                         op { type: "T" input: "w" input: "g" output: "w" })"),
            "--");
  EXPECT_EQ(WeightsOf(R"(op { type: "T" input: "w" input: "g" output: "y" })"), "--");
  EXPECT_EQ(WeightsOf(R"(op { type: "T" input: "w" output: "w" })"), "-");
}

// One arrow to the first reader stands for all weights that an operator of an earlier net fills.
TEST_F(WeightInputsTest, WeightsOfAnotherNetHaveOneArrow) {
  const NetDef init = ParseNet(R"(
      op { type: "XavierFill" output: "w1" } op { type: "XavierFill" output: "w2" }
      op { type: "GivenTensorFill" output: "b1" } op { type: "GivenTensorFill" output: "b2" })");
  const NetDef net = ParseNet(R"(
      op { type: "FC" input: "x" input: "w1" input: "b1" output: "h" }
      op { type: "FC" input: "h" input: "w2" input: "b2" output: "y" }
      op { type: "Print" input: "w1" })");
  const NetSummary a = SummarizeNet({}, init, {}), b = SummarizeNet({}, net, {});
  const FlowGraph graph = MakeFlowGraph({{&init, &a, "i"}, {&net, &b, "n"}}, {});
  std::vector<std::string> edges;
  const char* const kinds[] = {"flow", "carried", "control", "weights"};
  for (const FlowEdge& edge : graph.edges) {
    edges.push_back(MakeString(graph.nodes[edge.from].title, " ", BlobNames(edge), " ",
                               graph.nodes[edge.to].title, " ",
                               kinds[static_cast<size_t>(edge.kind)], " ", edge.input));
  }
  EXPECT_THAT(edges, ElementsAre("x x FC flow 0", "XavierFill w1, w2 FC weights 0",
                                 "GivenTensorFill b1, b2 FC weights 0", "FC h FC flow 0",
                                 "XavierFill w1 Print flow 0", "FC y y flow 0"));
}

// The positions of inputs are those of the first operator that reads them.
TEST_F(WeightInputsTest, InputsKnowTheirPositions) {
  const NetDef net = ParseNet(R"(op { type: "Sum" input: "a" input: "b" output: "c" }
      op { type: "Sum" input: "c" input: "c" input: "b" output: "d" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const FlowGraph graph = MakeFlowGraph({{&net, &summary, "n"}}, {});
  std::vector<size_t> inputs;
  for (const FlowEdge& edge : graph.edges) inputs.push_back(edge.input);
  // a, b; c (once), b to the second operator; d
  EXPECT_THAT(inputs, ElementsAre(0, 1, 0, 2, 0));
}

}  // namespace
}  // namespace caffe2rt::test::weight_inputs_test
