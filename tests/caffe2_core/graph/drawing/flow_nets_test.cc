// The graph of several nets: which nodes stand for several operators, where arrows between nets
// begin and end, and which blobs are inputs and outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/node_box.h"
#include "caffe2_core/graph/drawing/node_text.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::flow_nets_test {
namespace {

using ::testing::ElementsAre;

class FlowNetsTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }

  // "net: title" of each node, with the number of its operators if there are several or none.
  std::vector<std::string> NodesOf(const std::vector<std::string>& texts) {
    const FlowGraph graph = GraphOf(texts);
    std::vector<std::string> nodes;
    for (const FlowNode& node : graph.nodes) {
      const char* const kind = node.kind == FlowNode::Kind::kInput    ? " in"
                               : node.kind == FlowNode::Kind::kOutput ? " out"
                                                                      : "";
      nodes.push_back(MakeString(node.net, ": ", node.title, kind,
                                 node.ops.size() > 1 ? MakeString(" x", node.ops.size()) : ""));
    }
    return nodes;
  }
  // "from (blobs) to", with the kind unless the arrow is a plain one.
  std::vector<std::string> ArrowsOf(const std::vector<std::string>& texts) {
    const FlowGraph graph = GraphOf(texts);
    const char* const kinds[] = {"", " carried", " control", " weights"};
    std::vector<std::string> arrows;
    const auto end = [&](size_t node) {
      return MakeString(graph.nodes[node].net, ":", graph.nodes[node].title);
    };
    for (const FlowEdge& edge : graph.edges) {
      arrows.push_back(MakeString(end(edge.from), " (", BlobNames(edge), ") ", end(edge.to),
                                  kinds[static_cast<size_t>(edge.kind)]));
    }
    return arrows;
  }

 private:
  FlowGraph GraphOf(const std::vector<std::string>& texts) {
    std::deque<NetDef> nets;
    std::deque<NetSummary> summaries;
    std::vector<DrawnNet> drawn;
    for (const std::string& text : texts) {
      nets.push_back(ParseNet(text));
      summaries.push_back(SummarizeNet({}, nets.back(), {}));
      drawn.push_back({&nets.back(), &summaries.back(), "n"});
    }
    return MakeFlowGraph(drawn, {});
  }
};

TEST_F(FlowNetsTest, FillsThatNothingReadsShareANodeOfTheirNet) {
  const std::string fills = R"(op { type: "XavierFill" output: "w1" }
      op { type: "XavierFill" output: "w2" } op { type: "ConstantFill" output: "b1" } )";
  EXPECT_THAT(NodesOf({fills, R"(op { type: "XavierFill" output: "v" })"}),
              ElementsAre("0: XavierFill x2", "0: ConstantFill", "1: XavierFill",
                          "0: 2 outputs out", "0: b1 out", "1: v out"));
  // One that waits for something, or whose output is read, stands for itself.
  EXPECT_THAT(NodesOf({R"(op { type: "XavierFill" output: "w1" }
      op { type: "XavierFill" output: "w2" control_input: "w1" }
      op { type: "XavierFill" output: "w3" } op { type: "XavierFill" output: "w4" }
      op { type: "Relu" input: "w4" output: "y" })"}),
              ElementsAre("0: XavierFill x2", "0: XavierFill", "0: XavierFill", "0: Relu",
                          "0: 2 outputs out", "0: w2 out", "0: y out"));
}

TEST_F(FlowNetsTest, EachNetHasAnArrowForTheWeightsOfAnother) {
  const std::string init = R"(op { type: "XavierFill" output: "w1" }
                              op { type: "XavierFill" output: "w2" } )";
  const std::string first = R"(op { type: "FC" input: "x" input: "w1" output: "a" }
                               op { type: "FC" input: "a" input: "w2" output: "b" } )";
  const std::string second = R"(op { type: "Conv" input: "z" input: "w2" output: "c" }
                                op { type: "Conv" input: "c" input: "w1" output: "d" } )";
  EXPECT_THAT(ArrowsOf({init, first, second}),
              ElementsAre("1:x (x) 1:FC", "0:XavierFill (w1, w2) 1:FC weights", "1:FC (a) 1:FC",
                          "2:z (z) 2:Conv", "0:XavierFill (w2, w1) 2:Conv weights",
                          "2:Conv (c) 2:Conv", "1:FC (b) 1:b", "2:Conv (d) 2:d"));
}

// The value that the net has left, from the operator that wrote it last.
TEST_F(FlowNetsTest, ArrowsBetweenNetsBeginAtTheLastWriter) {
  EXPECT_THAT(
      ArrowsOf({R"(op { type: "Relu" input: "x" output: "a" }
                           op { type: "Tanh" input: "a" output: "a" })",
                R"(op { type: "Exp" input: "a" output: "y" })",
                R"(op { type: "Abs" input: "a" output: "z" }
                           op { type: "Sqr" input: "z" output: "a" })",
                R"(op { type: "Sin" input: "a" output: "u" })"}),
      ElementsAre("0:x (x) 0:Relu", "0:Relu (a) 0:Tanh", "0:Tanh (a) 1:Exp", "0:Tanh (a) 2:Abs",
                  "2:Abs (z) 2:Sqr", "2:Sqr (a) 3:Sin", "1:Exp (y) 1:y", "3:Sin (u) 3:u"));
}

// What a later net writes twice, too; and an operator without blobs is no fill.
TEST_F(FlowNetsTest, ArrowsBetweenLaterNetsBeginAtTheLastWriter) {
  EXPECT_THAT(ArrowsOf({R"(op { type: "Exp" input: "p" output: "q" })",
                        R"(op { type: "Relu" input: "x" output: "a" }
                           op { type: "Tanh" input: "a" output: "a" })",
                        R"(op { type: "Abs" input: "a" output: "y" })"}),
              ElementsAre("0:p (p) 0:Exp", "1:x (x) 1:Relu", "1:Relu (a) 1:Tanh",
                          "1:Tanh (a) 2:Abs", "0:Exp (q) 0:q", "2:Abs (y) 2:y"));
  EXPECT_THAT(NodesOf({R"(op { type: "T" } op { type: "T" })"}), ElementsAre("0: T", "0: T"));
}

TEST_F(FlowNetsTest, OutputsAreWhatNoOtherNetReads) {
  const std::string net = R"(op { type: "Relu" input: "x" output: "y" }
                             op { type: "Tanh" input: "y" output: "z" } )";
  const std::string listed = R"(external_output: "y" external_output: "z" )" + net;
  const std::string reader = R"(op { type: "Print" input: "y" })";
  EXPECT_THAT(NodesOf({listed}),
              ElementsAre("0: Relu", "0: x in", "0: Tanh", "0: y out", "0: z out"));
  EXPECT_THAT(NodesOf({listed, reader}),
              ElementsAre("0: Relu", "0: x in", "0: Tanh", "1: Print", "0: z out"));
  EXPECT_THAT(NodesOf({R"(op { type: "Exp" input: "y" output: "v" })", listed}),
              ElementsAre("0: Exp", "1: Relu", "1: x in", "1: Tanh", "0: v out", "1: z out"));
  EXPECT_THAT(NodesOf({listed, R"(op { type: "Print" input: "z" })"}),
              ElementsAre("0: Relu", "0: x in", "0: Tanh", "1: Print", "0: y out"));
}

// A weight that the net updates is drawn only if the net lists it as an output.
TEST_F(FlowNetsTest, UpdatedWeightsAreOutputsIfTheyAreListed) {
  const std::string update = R"(op { type: "Relu" input: "x" output: "g" }
      op { type: "MomentumSGDUpdate" input: "g" input: "m" input: "lr" input: "w"
           output: "g" output: "m" output: "w" })";
  EXPECT_THAT(NodesOf({update}),
              ElementsAre("0: Relu", "0: x in", "0: MomentumSGDUpdate", "0: g out"));
  EXPECT_THAT(NodesOf({R"(external_output: "w" )" + update}),
              ElementsAre("0: Relu", "0: x in", "0: MomentumSGDUpdate", "0: w out"));
}

// A net that reads a blob before it writes it gets it from its last run, or from the caller.
TEST_F(FlowNetsTest, StateOfANetIsAnInput) {
  const std::string other = R"(op { type: "Exp" input: "x" output: "e" } )";
  const std::string state = R"(op { type: "Relu" input: "s" output: "t" }
                               op { type: "Tanh" input: "t" output: "s" } )";
  EXPECT_THAT(ArrowsOf({other, state}),
              ElementsAre("0:x (x) 0:Exp", "1:s (s) 1:Relu", "1:Relu (t) 1:Tanh", "0:Exp (e) 0:e",
                          "1:Tanh (s) 1:s"));
  // From a net that runs later, it comes in the next run.
  EXPECT_THAT(ArrowsOf({R"(op { type: "Exp" input: "s" output: "e" } )", state}),
              ElementsAre("1:s (s) 1:Relu", "1:Relu (t) 1:Tanh", "1:Tanh (s) 0:Exp carried",
                          "0:Exp (e) 0:e"));
}

TEST_F(FlowNetsTest, ArrowsNameEachBlobOnce) {
  EXPECT_THAT(
      ArrowsOf({R"(op { type: "Split" input: "x" output: "a" output: "b" }
                           op { type: "Sum" input: "a" input: "b" input: "a" input: "a" output: "y" }
                           op { type: "Sum" input: "y" input: "y" output: "z" })"}),
      ElementsAre("0:x (x) 0:Split", "0:Split (a, b) 0:Sum", "0:Sum (y) 0:Sum", "0:Sum (z) 0:z"));
}

// Regression: names that are cut, and those behind the eighth, were counted for each input.
TEST_F(FlowNetsTest, ArrowsNameLongAndFurtherBlobsOnceToo) {
  const std::string name(300, 'n');
  EXPECT_THAT(ArrowsOf({MakeString(R"(op { type: "Relu" input: "x" output: ")", name,
                                   R"(" } op { type: "Sum" input: ")", name, R"(" input: ")", name,
                                   R"(" output: "y" })")}),
              ElementsAre("0:x (x) 0:Relu", "0:Relu (" + name.substr(0, 197) + "...) 0:Sum",
                          "0:Sum (y) 0:y"));
  for (const auto& [blobs, text] : {std::pair(8, "a0, a1, a2, a3, a4, a5, a6, a7"),
                                    std::pair(9, "a0, a1, a2, a3, a4, a5, a6, a7 and 1 more"),
                                    std::pair(10, "a0, a1, a2, a3, a4, a5, a6, a7 and 2 more")}) {
    std::string split = R"(op { type: "Split" input: "x" )", sum = R"(op { type: "Sum" )";
    for (int i = 0; i < 2 * blobs; ++i) {
      if (i < blobs) split += MakeString("output: \"a", i, "\" ");
      sum += MakeString("input: \"a", i % blobs, "\" ");
    }
    EXPECT_THAT(
        ArrowsOf({split + "} " + sum + R"(output: "y" })"}),
        ElementsAre("0:x (x) 0:Split", MakeString("0:Split (", text, ") 0:Sum"), "0:Sum (y) 0:y"));
  }
}

// The lines of a block whose ranges write these shapes as their only output, "y".
std::vector<std::string> LinesOfShapes(const std::vector<TensorShape>& shapes) {
  NetSummary summary;
  std::vector<uint32_t> ops;
  for (const TensorShape& shape : shapes) {
    OpSummary op;
    op.output_names = {"y"};
    op.outputs = {shape};
    ops.push_back(static_cast<uint32_t>(ops.size()));
    summary.ops.push_back(std::move(op));
  }
  return OutputLines(summary, ops);
}

TEST_F(FlowNetsTest, ShapesOfABlockAreStatedIfTheyAreAlike) {
  const auto shape = [](const std::vector<int64_t>& dims,
                        TensorProto_DataType type = TensorProto::FLOAT) {
    return CreateTensorShape(dims, type);
  };
  const std::string to = "\xE2\x80\xA6";
  EXPECT_THAT(LinesOfShapes({shape({2, 3})}), ElementsAre("y", "float [2, 3]"));
  EXPECT_THAT(LinesOfShapes({shape({2, 3}), shape({2, 5}), shape({2, 4})}),
              ElementsAre("y", "float [2, 3" + to + "4]"));
  EXPECT_THAT(LinesOfShapes({shape({2, 3}), shape({2, 3}, TensorProto::INT64)}), ElementsAre("y"));
  EXPECT_THAT(LinesOfShapes({shape({2, 3}), shape({2}), shape({2, 3})}), ElementsAre("y"));
  EXPECT_THAT(LinesOfShapes({shape({2, 3}), UnknownShape(), shape({2, 3})}), ElementsAre("y"));
  EXPECT_THAT(LinesOfShapes({UnknownShape(), shape({2, 3})}), ElementsAre("y"));
  EXPECT_THAT(LinesOfShapes({shape({}), shape({})}), ElementsAre("y", "float []"));
}

// The arrow of group 0 leads 50 px to the left, into the frame of group 1, but to no node.
TEST_F(FlowNetsTest, FramesLeaveOutArrowsThatLeadIntoOtherFrames) {
  FlowGraph graph;
  graph.groups = {{.title = "a"}, {.title = "b"}};
  graph.nodes = {{.group = 0}, {.group = 0}, {.group = 1}};
  graph.edges = {{.from = 0, .to = 1}};
  NetDrawingLayout layout;
  layout.nodes = {{100, 100, 50, 20}, {100, 200, 50, 20}, {20, 150, 8, 8}};
  layout.edges = {{{125, 120}, {25, 120}, {25, 200}, {125, 200}}};
  PlaceFrames(graph, {true, true}, &layout);
  EXPECT_EQ(layout.groups[1].x, 20 - 14);
  EXPECT_EQ(layout.groups[1].width, 8 + 28);
  EXPECT_EQ(layout.groups[0].x, 100 - 14);
  EXPECT_EQ(layout.groups[0].width, 50 + 28);
  // A group without a frame is no obstacle.
  PlaceFrames(graph, {true, false}, &layout);
  EXPECT_EQ(layout.groups[1].width, 0);
  EXPECT_EQ(layout.groups[0].x, 50 - 14);
  EXPECT_EQ(layout.groups[0].width, 100 + 28);
}

// A node of another group that begins above the frame and ends in it, left of it or below it.
TEST_F(FlowNetsTest, FramesLeaveOutArrowsThatLeadIntoOtherNodes) {
  FlowGraph graph;
  graph.groups = {{.title = "a"}, {.title = "b"}};
  graph.nodes = {{.group = 0}, {.group = 0}, {.group = 1}};
  graph.edges = {{.from = 0, .to = 1}};
  NetDrawingLayout layout;
  layout.nodes = {{100, 100, 50, 20}, {100, 200, 50, 20}, {}};
  layout.edges = {{{125, 120}, {25, 120}, {25, 200}, {125, 200}}};
  // With the arrow, the frame is [36, 164) x [76, 234).
  const auto frame_begins = [&](const NetDrawingLayout::Box& other) {
    layout.nodes[2] = other;
    PlaceFrames(graph, {true, false}, &layout);
    return layout.groups[0].x;
  };
  EXPECT_EQ(frame_begins({60, 50, 8, 40}), 86);
  EXPECT_EQ(frame_begins({60, 50, 8, 26}), 36);
  EXPECT_EQ(frame_begins({60, 50, 8, 27}), 86);
  EXPECT_EQ(frame_begins({20, 150, 16, 8}), 36);
  EXPECT_EQ(frame_begins({20, 150, 17, 8}), 86);
  EXPECT_EQ(frame_begins({60, 234, 8, 8}), 36);
  EXPECT_EQ(frame_begins({60, 233, 8, 8}), 86);
  EXPECT_EQ(frame_begins({164, 150, 8, 8}), 36);
}

}  // namespace
}  // namespace caffe2rt::test::flow_nets_test
