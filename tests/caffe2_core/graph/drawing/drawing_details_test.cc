// Details of drawings that show with rare graphs only: a third net, several arrows between two nodes,
// the largest numbers that a layout may have, and repetitions without a frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/graphviz_layout.h"
#include "caffe2_core/graph/drawing/layered_layout.h"
#include "caffe2_core/graph/drawing/merged_inputs.h"
#include "caffe2_core/graph/drawing/node_box.h"
#include "caffe2_core/graph/drawing/node_text.h"
#include "caffe2_core/graph/drawing/svg_image.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::drawing_details_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Kind = FlowEdge::Kind;

// Rows of 27 px, 44 px apart, with 2 * (24 + 14) px more between nets.
TEST(DrawingDetailsTest, EachNetIsApartFromTheOneBefore) {
  FlowGraph graph;
  for (size_t net = 0; net < 4; ++net) {
    graph.groups.push_back({.title = "n", .framed = false});
    graph.nodes.push_back({.net = net, .group = net});
  }
  graph.nodes.push_back({.net = 3, .group = 3, .layer = 1});
  const NetDrawingLayout layout = LayeredLayout(graph);
  std::vector<double> y;
  for (const NetDrawingLayout::Box& box : layout.nodes) y.push_back(box.y);
  EXPECT_THAT(y, ElementsAre(8, 8 + 147, 8 + 2 * 147, 8 + 3 * 147, 8 + 3 * 147 + 71));
  EXPECT_EQ(layout.height, 8 + 3 * 147 + 71 + 27);
}

// An operator and what it reads: only arrows of inputs become one.
TEST(DrawingDetailsTest, ArrowsBetweenOperatorsStayApart) {
  FlowGraph graph;
  graph.groups = {{}};
  graph.nodes = {{.title = "A"}, {.title = "B"}, {.kind = FlowNode::Kind::kInput, .title = "x"}};
  const auto edge = [](size_t from, size_t to, Kind kind, const std::string& blob, size_t input) {
    return FlowEdge{
        .from = from, .to = to, .kind = kind, .input = input, .blobs = {blob}, .num_blobs = 1};
  };
  graph.edges = {edge(0, 1, Kind::kFlow, "a", 0), edge(0, 1, Kind::kControl, "b", 0),
                 edge(0, 1, Kind::kCarried, "c", 0), edge(2, 1, Kind::kFlow, "x", 1),
                 edge(0, 1, Kind::kWeights, "d", 2)};
  MergeInputs(&graph);
  std::vector<std::string> edges;
  for (const FlowEdge& found : graph.edges) {
    edges.push_back(MakeString(found.from, ">", found.to, " ", BlobNames(found), " ",
                               static_cast<int>(found.kind), " ", found.input));
  }
  EXPECT_THAT(edges, ElementsAre("0>1 a 0 0", "0>1 b 2 0", "0>1 c 1 0", "2>1 x 0 1", "0>1 d 3 2"));
}

FlowGraph PairOfNodes() {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  graph.nodes = {{.title = "A"}, {.title = "B"}};
  graph.edges = {{.from = 0, .to = 1}};
  return graph;
}

TEST(DrawingDetailsTest, LayoutsMayHaveThousandsOfPointsAndThousandsOfInches) {
  const auto layout = [](const std::string& head, const std::string& x, int points) {
    std::string text =
        head + "\nnode n0 " + x + " 1 1 1\nnode n1 1 2 1 1\nedge n0 n1 " + MakeString(points);
    for (int i = 0; i < points; ++i) text += " 1 1";
    return [text = text + "\nstop\n"] { (void)ReadGraphvizLayout(PairOfNodes(), text); };
  };
  const std::string head = "graph 1 3 3";
  ExpectRefusals({
      {layout(head, "1", 4), "(nothing was thrown)"},
      {layout(head, "1", 10000), "(nothing was thrown)"},
      {layout(head, "1", 10003), "layout has an edge of \"10003\" points, want 4, 7, 10, ..."},
      {layout(head, "1", 6), "layout has an edge of \"6\" points, want 4, 7, 10, ..."},
      {layout(head, "138888", 4), "(nothing was thrown)"},
      {layout(head, "138889", 4), "layout has \"138889\", want a number of inches"},
      {layout(head, "-138888", 4), "(nothing was thrown)"},
      {layout(head, "-138889", 4), "layout has \"-138889\", want a number of inches"},
      {layout(head, "nan", 4), "layout has \"nan\", want a number of inches"},
      {layout(head, "one", 4), "layout has \"one\", want a number of inches"},
      {layout("graph 1 3 138889", "1", 4), "layout has \"138889\", want a number of inches"},
  });
}

// Only an empty line may follow the end.
TEST(DrawingDetailsTest, LayoutsEndWithStop) {
  const std::string whole =
      "graph 1 3 3\nnode n0 1 1 1 1\nnode n1 1 2 1 1\nedge n0 n1 4 1 1 1 1 1 1 1 1\n";
  const auto read = [&](const std::string& end) {
    return [text = whole + end] { (void)ReadGraphvizLayout(PairOfNodes(), text); };
  };
  const char* const incomplete = "layout has no line \"stop\" at its end";
  ExpectRefusals({
      {read("stop"), "(nothing was thrown)"},
      {read("stop\n\n"), "(nothing was thrown)"},
      {read("\nstop\n"), "(nothing was thrown)"},
      {read(""), incomplete},
      {read("stop\nother\n"), incomplete},
      {read("stopped\n"), incomplete},
  });
}

// Points that only order the nets, and lines without names, are not nodes of the graph.
TEST(DrawingDetailsTest, LayoutsMayHaveOtherNodesAndEdges) {
  const std::string whole =
      "graph 1 3 3\nnode n0 1 1 1 1\nnode n1 1 2 1 1\nedge n0 n1 4 1 1 1 1 1 1 1 1\n";
  const auto read = [&](const std::string& line) {
    return [text = whole + line + "\nstop\n"] { (void)ReadGraphvizLayout(PairOfNodes(), text); };
  };
  for (const char* const line :
       {"node", "node q0 1 1 1 1", "node q", "other n0 n1 4", "edge", "edge n0", "edge n0 n1",
        "edge q0 n1 4 1 1", "edge n0 q1 4 1 1", " "}) {
    EXPECT_NO_THROW(read(line)()) << line;
  }
  ExpectRefusals({
      {read("node n 1 1 1 1"), "layout has \"n\", want the name of a node"},
      {read("node n2 1 1 1 1"), "layout has \"n2\", want the name of a node"},
      {read("node nx 1 1 1 1"), "layout has \"nx\", want the name of a node"},
      {read("edge n n1 4 1 1 1 1 1 1 1 1"), "layout has \"n\", want the name of a node"},
  });
}

// The first line is that of the first edge.
TEST(DrawingDetailsTest, EdgesBetweenTwoNodesHaveTheirOwnPoints) {
  FlowGraph graph = PairOfNodes();
  graph.edges.push_back({.from = 0, .to = 1, .kind = Kind::kControl});
  const auto edge = [](int x) { return MakeString("edge n0 n1 4 ", x, " 1 1 1 1 1 1 1\n"); };
  const std::string nodes = "graph 1 30 3\nnode n0 1 1 1 1\nnode n1 1 2 1 1\n";
  const NetDrawingLayout layout = ReadGraphvizLayout(graph, nodes + edge(2) + edge(3) + "stop\n");
  ASSERT_EQ(layout.edges[0].size(), 4u);
  ASSERT_EQ(layout.edges[1].size(), 4u);
  EXPECT_EQ(layout.edges[0][0].x, 2 * 72);
  EXPECT_EQ(layout.edges[1][0].x, 3 * 72);
  ExpectRefusals(
      {{[&] { (void)ReadGraphvizLayout(graph, nodes + edge(2) + edge(3) + edge(4) + "stop\n"); },
        "layout has an edge too many"},
       {[&] { (void)ReadGraphvizLayout(graph, nodes + edge(2) + "stop\n"); },
        "layout lacks an edge"}});
}

// Graphviz keeps the arrows straight that skip no node, however many blobs they stand for.
TEST(DrawingDetailsTest, ArrowsThatSkipNodesBend) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  for (int layer = 0; layer < 3; ++layer) graph.nodes.push_back({.title = "A", .layer = layer});
  graph.edges = {{.from = 0, .to = 1, .blobs = {"a", "b"}, .num_blobs = 2},
                 {.from = 0, .to = 2, .blobs = {"a", "b"}, .num_blobs = 2},
                 {.from = 2, .to = 0, .kind = Kind::kCarried}};
  const std::string request = GraphvizRequest(graph);
  EXPECT_THAT(request, HasSubstr("n0 -> n1 [weight=4];"));
  EXPECT_THAT(request, HasSubstr("n0 -> n2 [weight=1];"));
  EXPECT_THAT(request, HasSubstr("n2 -> n0 [weight=4, constraint=false];"));
}

// 64 arrows that pass a row have lanes of their own, 12 px apart; all others share the next one.
TEST(DrawingDetailsTest, LanesAreLimited) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  for (int layer = 0; layer < 3; ++layer) graph.nodes.push_back({.layer = layer});
  for (int i = 0; i < 70; ++i) graph.edges.push_back({.from = 0, .to = 2});
  const NetDrawingLayout layout = LayeredLayout(graph);
  for (size_t i = 0; i < 70; ++i) {
    EXPECT_EQ(layout.edges[i][6].x, 90 + 24 + 12 * static_cast<double>(std::min(i, size_t{64})));
  }
  EXPECT_EQ(layout.width, 90 + 24 + 12 * 64);
}

// The first node of the row has two lines of 15 px more than the second.
TEST(DrawingDetailsTest, RowsAreAsHighAsTheirHighestNode) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  graph.nodes = {{.title = "A", .lines = {"a", "b"}}, {.title = "B"}, {.title = "C", .layer = 1}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  EXPECT_EQ(layout.nodes[0].height, 57);
  EXPECT_EQ(layout.nodes[1].height, 27);
  EXPECT_EQ(layout.nodes[2].y, 8 + 57 + 44);
}

FlowGraph GraphOfNets(const std::vector<NetDef>& nets, bool fold = false) {
  EnsureBuiltinOperators();
  std::vector<NetSummary> summaries;
  std::vector<DrawnNet> drawn;
  for (const NetDef& net : nets) summaries.push_back(SummarizeNet({}, net, {}));
  for (size_t i = 0; i < nets.size(); ++i) drawn.push_back({&nets[i], &summaries[i], "n"});
  return MakeFlowGraph(drawn, {.fold = fold});
}

// Each net has one frame for what computes gradients, or reads them.
TEST(DrawingDetailsTest, EachNetHasOneBackwardPass) {
  const NetDef net = ParseNet(R"(op { type: "Tanh" input: "x" output: "y" }
      op { type: "TanhGradient" input: "y" input: "dy" output: "dx" is_gradient_op: true }
      op { type: "Scale" input: "dx" output: "step" } op { type: "Sum" input: "step" output: "z" })");
  const FlowGraph graph = GraphOfNets({net, net});
  std::vector<std::string> groups;
  for (const FlowNode& node : graph.nodes) {
    if (node.kind != FlowNode::Kind::kOperator) continue;
    groups.push_back(MakeString(node.net, " ", node.title, " ", graph.groups[node.group].title));
  }
  EXPECT_THAT(groups,
              ElementsAre("0 Tanh n", "0 TanhGradient backward pass", "0 Scale backward pass",
                          "0 Sum backward pass", "1 Tanh n", "1 TanhGradient backward pass",
                          "1 Scale backward pass", "1 Sum backward pass"));
  EXPECT_EQ(graph.groups.size(), 4u);
  // Each is in the frame of its net.
  std::vector<size_t> parents;
  for (const FlowGroup& group : graph.groups) {
    if (group.title == "backward pass") parents.push_back(group.parent);
  }
  EXPECT_EQ(parents, graph.net_groups);
}

// Fills of one type are one node, which names all that they fill.
TEST(DrawingDetailsTest, NodesOfSeveralFillsNameAllOutputs) {
  const FlowGraph graph = GraphOfNets({ParseNet(R"(op { type: "NoSuchFill" output: "a" output: "b" }
      op { type: "NoSuchFill" output: "c" })")});
  ASSERT_EQ(graph.nodes[0].ops.size(), 2u);
  EXPECT_EQ(graph.nodes[0].lines, NameLines({"a", "b", "c"}));
}

// Two stages of three steps and a pool: what a step, or a stage, passes on to the next is dashed.
TEST(DrawingDetailsTest, ArrowsToTheNextRepetitionAreCarriedAtEveryLevel) {
  std::string text, last = "x";
  const auto op = [&](const char* type, const std::string& in, const std::string& out,
                      const std::string& more = "") {
    text += MakeString("op { type: \"", type, "\" input: \"", in, "\" output: \"", out, "\" ", more,
                       " } ");
  };
  for (int stage = 0; stage < 2; ++stage) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = MakeString("s", stage, i);
      op("Relu", last, name + "r");
      op("Tanh", name + "r", name + "t");
      op("Sum", name + "t", name, "input: \"" + last + "\"");
      last = name;
    }
    op("MaxPool", last, MakeString("p", stage), "arg { name: \"kernel\" i: 2 }");
    last = MakeString("p", stage);
  }
  const FlowGraph graph = GraphOfNets({ParseNet(text)}, true);
  std::vector<std::string> edges;
  for (const FlowEdge& edge : graph.edges) {
    edges.push_back(MakeString(graph.nodes[edge.from].title, ">", graph.nodes[edge.to].title,
                               edge.kind == Kind::kCarried ? " carried" : ""));
  }
  EXPECT_THAT(edges,
              UnorderedElementsAre("x>Relu", "Relu>Tanh", "Tanh>Sum", "x>Sum", "Sum>Relu carried",
                                   "Sum>Sum carried", "Sum>MaxPool", "MaxPool>Relu carried",
                                   "MaxPool>Sum carried", "MaxPool>p1"));
  // The steps are in a frame within that of the stages.
  std::vector<std::string> frames;
  for (const FlowNode& node : graph.nodes) {
    if (node.kind != FlowNode::Kind::kOperator) continue;
    std::string text = node.title;
    for (size_t group = node.group; group != FlowGroup::kNone; group = graph.groups[group].parent) {
      text += MakeString(" ", graph.groups[group].title, "/", graph.groups[group].repeats);
    }
    frames.push_back(text);
  }
  EXPECT_THAT(frames, ElementsAre("Relu \xC3\x97 3/3 \xC3\x97 2/2 n/1",
                                  "Tanh \xC3\x97 3/3 \xC3\x97 2/2 n/1",
                                  "Sum \xC3\x97 3/3 \xC3\x97 2/2 n/1", "MaxPool \xC3\x97 2/2 n/1"));
}

// An arrow within a row leads down, along a lane right of all nodes, and back up.
TEST(DrawingDetailsTest, ArrowsWithinARowHaveALane) {
  FlowGraph graph = PairOfNodes();
  const NetDrawingLayout layout = LayeredLayout(graph);
  ASSERT_EQ(layout.edges[0].size(), 16u);
  EXPECT_EQ(layout.edges[0][6].x, 90 + 24 + 90 + 24);
  EXPECT_EQ(layout.edges[0].front().x, 45);
  EXPECT_EQ(layout.edges[0].back().x, 45 + 114);
}

// The backward pass is 76 px right of the other nodes, and the lanes 24 px right of it.
TEST(DrawingDetailsTest, LanesAreRightOfTheBackwardPass) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}, {.title = "", .parent = 0, .framed = false}};
  for (int layer = 0; layer < 3; ++layer) graph.nodes.push_back({.layer = layer});
  graph.nodes.push_back({.group = 1, .layer = 1});
  graph.edges = {{.from = 0, .to = 2}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  EXPECT_EQ(layout.nodes[0].x, 0);
  EXPECT_EQ(layout.nodes[3].x, 90 + 76);
  EXPECT_EQ(layout.edges[0][6].x, 90 + 76 + 90 + 24);
}

// A frame is 14 px from its nodes, 24 px above.
TEST(DrawingDetailsTest, FramesAreInTheImage) {
  FlowGraph graph;
  graph.groups = {{.title = "n"}};
  graph.nodes = {{.title = "A"}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  EXPECT_EQ(layout.groups[0].x, 0);
  EXPECT_EQ(layout.groups[0].y, 0);
  EXPECT_EQ(layout.nodes[0].x, 14);
  EXPECT_EQ(layout.nodes[0].y, 24);
  EXPECT_EQ(layout.width, 90 + 28);
  EXPECT_EQ(layout.height, 27 + 38);
}

// Blocks have no frames in plain layouts: their lanes would cross them.
TEST(DrawingDetailsTest, PlainLayoutsFrameNoBlocks) {
  for (const size_t repeats : {1, 2, 5}) {
    FlowGraph graph;
    graph.groups = {{.title = "n"}, {.title = "b", .parent = 0, .repeats = repeats}};
    graph.nodes = {{.title = "A"}, {.group = 1, .title = "B", .layer = 1}};
    const NetDrawingLayout layout = LayeredLayout(graph);
    EXPECT_GT(layout.groups[0].width, 0);
    EXPECT_EQ(layout.groups[1].width > 0, repeats == 1) << repeats;
  }
}

// The outer block has no operators of its own.
TEST(DrawingDetailsTest, BlocksOfBlocksAreNestedInDot) {
  FlowGraph graph;
  graph.groups = {{.title = "n", .framed = false},
                  {.title = "outer", .parent = 0, .repeats = 2},
                  {.title = "first", .parent = 1, .repeats = 3},
                  {.title = "second", .parent = 1, .repeats = 3}};
  graph.nodes = {{.group = 2, .title = "A"}, {.group = 3, .title = "B"}, {.title = "C"}};
  std::string dot = GraphAsDot(graph, "t");
  dot = dot.substr(dot.find("  n2"));
  const std::string end = "\", fillcolor=\"#fafafa\"];\n";
  EXPECT_EQ(dot, "  n2 [label=\"C" + end +
                     "subgraph cluster_1 {\n  label=\"outer\";\n"
                     "subgraph cluster_2 {\n  label=\"first\";\n  n0 [label=\"A" +
                     end + "}\nsubgraph cluster_3 {\n  label=\"second\";\n  n1 [label=\"B" + end +
                     "}\n}\n}\n");
}

// Each net is folded by itself, its backward pass too.
TEST(DrawingDetailsTest, BackwardPassesOfAllNetsAreFolded) {
  std::string text = R"(op { type: "Tanh" input: "x" output: "g0" } )";
  for (int i = 0; i < 4; ++i) {
    text += MakeString("op { type: \"Relu\" input: \"g", i, "\" output: \"g", i + 1,
                       "\" is_gradient_op: true } ");
  }
  const NetDef net = ParseNet(text);
  const FlowGraph graph = GraphOfNets({net, net}, true);
  std::vector<std::string> nodes;
  for (const FlowNode& node : graph.nodes) {
    if (node.kind == FlowNode::Kind::kOperator) {
      nodes.push_back(MakeString(node.net, " ", node.title, " ", node.ops.size()));
    }
  }
  EXPECT_THAT(nodes, ElementsAre("0 Tanh 1", "0 Relu 4", "1 Tanh 1", "1 Relu 4"));
}

// The numbers of blobs add up, also if some of their names are left out.
TEST(DrawingDetailsTest, ArrowsOfMergedInputsCountAllBlobs) {
  FlowGraph graph;
  graph.groups = {{}};
  graph.nodes = {{.title = "A"}};
  for (size_t i = 0; i < 5; ++i) {
    graph.nodes.push_back({.kind = FlowNode::Kind::kInput, .title = MakeString("x", i)});
    graph.edges.push_back({.from = i + 1, .to = 0, .blobs = {"x"}, .num_blobs = i + 1});
  }
  MergeInputs(&graph);
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.edges[0].num_blobs, 1u + 2 + 3 + 4 + 5);
  EXPECT_EQ(BlobNames(graph.edges[0]), "x, x, x, x, x and 10 more");
}

// The last step of a block comes before the first one of the next block, whatever their numbers.
TEST(DrawingDetailsTest, ArrowsBetweenTwoBlocksAreNotCarried) {
  std::string text, last = "x";
  for (const char* type : {"Relu", "Tanh"}) {
    for (int i = 0; i < 4; ++i) {
      const std::string out = MakeString(type, i);
      text +=
          MakeString("op { type: \"", type, "\" input: \"", last, "\" output: \"", out, "\" } ");
      last = out;
    }
  }
  const FlowGraph graph = GraphOfNets({ParseNet(text)}, true);
  std::vector<std::string> edges;
  for (const FlowEdge& edge : graph.edges) {
    edges.push_back(MakeString(graph.nodes[edge.from].title, ">", graph.nodes[edge.to].title,
                               edge.kind == Kind::kCarried ? " carried" : ""));
  }
  EXPECT_THAT(edges, UnorderedElementsAre("x>Relu", "Relu>Relu carried", "Relu>Tanh",
                                          "Tanh>Tanh carried", "Tanh>Tanh3"));
}

// The middle of the arrow that leads back is at (125 + 3 * 25 + 3 * 25 + 125) / 8 = 50.
TEST(DrawingDetailsTest, FramesHoldCarriedArrowsOfTwoRepetitions) {
  FlowGraph graph;
  graph.groups = {{.title = "b", .repeats = 2}};
  graph.nodes = {{.title = "A"}, {.title = "B"}};
  graph.edges = {{.from = 1, .to = 0, .kind = Kind::kCarried}};
  NetDrawingLayout layout;
  layout.nodes = {{100, 100, 50, 20}, {100, 200, 50, 20}};
  layout.edges = {{{125, 220}, {25, 220}, {25, 100}, {125, 100}}};
  PlaceFrames(graph, {true}, &layout);
  EXPECT_EQ(layout.groups[0].x, 50 - 14);
  EXPECT_EQ(layout.groups[0].width, 100 + 28);
}

// A short node lies between the ends of the arrow, beside one that begins earlier and ends later.
TEST(DrawingDetailsTest, ArrowsPassShortNodesBesideLongOnes) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  graph.nodes = {{.title = "A"},
                 {.title = "B", .layer = 1},
                 {.title = "C", .layer = 1},
                 {.title = "D", .layer = 2}};
  graph.edges = {{.from = 0, .to = 3, .blobs = {"b"}, .num_blobs = 1}};
  NetDrawingLayout layout;
  layout.nodes = {{0, 100, 100, 40}, {0, 150, 100, 400}, {120, 200, 100, 40}, {0, 300, 100, 40}};
  layout.edges = {{{0, 0}, {0, 0}, {0, 0}, {0, 0}}};
  layout.groups = {{}};
  EXPECT_THAT(SvgImage(graph, layout, "t", "s"), HasSubstr("class=\"edge skip0\""));
  layout.nodes[2].height = 400;
  EXPECT_THAT(SvgImage(graph, layout, "t", "s"), Not(HasSubstr("class=\"edge skip0\"")));
}

// Nodes and arrows that stand for several operators, blobs or weights look like those of one.
TEST(DrawingDetailsTest, WhatStandsForSeveralIsDrawnLikeOne) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  graph.nodes = {{.ops = {0, 1}, .title = "A", .family = OperatorFamily::kConv},
                 {.title = "B", .family = OperatorFamily::kPool},
                 {.kind = FlowNode::Kind::kInput,
                  .title = "3 inputs",
                  .lines = {"a", "+ 2 more"},
                  .names = {"a", "b", "c"}}};
  graph.edges = {{.from = 0, .to = 1, .kind = Kind::kWeights, .blobs = {"v", "w"}, .num_blobs = 2}};
  NetDrawingLayout layout;
  layout.nodes = {{0, 0, 50, 27}, {0, 100, 50, 27}, {0, 200, 50, 80}};
  layout.edges = {{{0, 0}, {0, 0}, {0, 0}, {0, 0}}};
  layout.groups = {{}};
  const std::string svg = SvgImage(graph, layout, "t", "s");
  EXPECT_THAT(svg, HasSubstr("<rect class=\"swatch conv\""));
  EXPECT_THAT(svg, HasSubstr("<rect class=\"swatch pool\""));
  EXPECT_THAT(svg, HasSubstr("<g class=\"edge weights\" id=\"e0\"><title>v, w</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>3 inputs; a; + 2 more</title>"));
  EXPECT_THAT(svg, HasSubstr("height=\"80\" rx=\"18\"/>"));  // at most
  const std::string dot = GraphAsDot(graph, "t");
  EXPECT_THAT(dot, HasSubstr("n0 [label=\"A\", fillcolor=\"#dce8f6\"];"));
  EXPECT_THAT(dot, HasSubstr("n2 [label=\"3 inputs\\na\\n+ 2 more\", shape=ellipse"));
}

// A fill of ones begins the backward pass, also if it has a constant shape.
TEST(DrawingDetailsTest, BackwardPassesMayBeginWithoutAnInput) {
  const auto group = [](const std::string& outputs) {
    const FlowGraph graph =
        GraphOfNets({ParseNet("op { type: \"ConstantFill\" " + outputs +
                              R"( } op { type: "Relu" input: "y_autogen_grad" output: "z" })")});
    return graph.groups[graph.nodes[0].group].title;
  };
  EXPECT_EQ(group(R"(output: "y_autogen_grad")"), "backward pass");
  EXPECT_EQ(group(R"(input: "y" output: "y_autogen_grad")"), "backward pass");
  EXPECT_EQ(group(R"(output: "y_autogen_grad" output: "o")"), "n");
}

// The number stands beside a node of a group that is drawn without a frame.
TEST(DrawingDetailsTest, RepetitionsWithoutAFrameAreNamedBesideTheirNodes) {
  for (const size_t repeats : {1, 2, 3}) {
    for (const double width : {0.0, 80.0}) {
      FlowGraph graph;
      graph.groups = {{.title = "all", .framed = false},
                      {.title = "times", .parent = 0, .repeats = repeats}};
      graph.nodes = {{.group = 0, .title = "A"}, {.group = 1, .title = "B"}};
      NetDrawingLayout layout;
      layout.width = 100;
      layout.height = 200;
      layout.nodes = {{0, 0, 50, 27}, {0, 100, 50, 27}};
      layout.groups = {{}, {0, 90, width, 50}};
      const std::string svg = SvgImage(graph, layout, "t", "s");
      // The image is 600 px wide, so that 250 px are left of the layout; 20 + 44 + 22 above.
      const std::string beside = "<text x=\"303\" y=\"197\" class=\"frame-title\">times</text></g>";
      if (repeats > 1 && width == 0) {
        EXPECT_THAT(svg, HasSubstr(beside)) << repeats;
      } else {
        EXPECT_THAT(svg, Not(HasSubstr("frame-title\">times</text></g>"))) << repeats;
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::drawing_details_test
