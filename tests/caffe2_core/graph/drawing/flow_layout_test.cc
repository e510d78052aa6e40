// Boxes, frames, layouts and colors of graphs that are made by hand, computed from
// drawing/node_box.h: text of 11 px (titles 13 px, bold), an ASCII letter 0.64 of the size, bold 1.12
// times as wide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/graphviz_layout.h"
#include "caffe2_core/graph/drawing/layered_layout.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/merged_inputs.h"
#include "caffe2_core/graph/drawing/node_box.h"
#include "caffe2_core/graph/drawing/svg_image.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::flow_layout_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Points = std::vector<NetDrawingLayout::Point>;

const std::string kCut = "\xE2\x80\xA6";

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(FlowLayoutTest, BoxesHaveRoomForTheTextThatTheyShow) {
  const struct {
    FlowNode node;
    std::string title, detail;
    double detail_x, width, height;
  } rows[] = {
      {{.title = "abc"}, "abc", "", 0, 90, 27},
      {{.title = "a\001"}, "a?", "", 0, 90, 27},
      // 14 + 40 * 7.04 + 12
      {{.title = "abc", .lines = {Repeated("a", 40), "b"}}, "abc", "", 0, 308, 57},
      {{.title = "abc", .lines = {"b", Repeated("i", 31)}}, "abc", "", 0, 163, 57},
      {{.title = "abc", .lines = {Repeated("W", 21)}}, "abc", "", 0, 251, 42},
      {{.title = "abc", .lines = {Repeated("A", 21)}}, "abc", "", 0, 200, 42},
      {{.title = "abc", .lines = {Repeated("\xC3\xA9", 20)}}, "abc", "", 0, 246, 42},
      // 41 letters and the ellipsis of 11 px fit into 300 px.
      {{.title = "abc", .lines = {Repeated("a", 300)}}, "abc", "", 0, 326, 42},
      // 14 + 3 * 9.3184 + 8 + 20 * 7.04 + 12
      {{.title = "abc", .detail = Repeated("a", 20)}, "abc", Repeated("a", 20), 49.9552, 203, 27},
      // At least 60 px remain for the detail: 6 letters and the ellipsis.
      {{.title = Repeated("a", 30), .detail = Repeated("b", 20)},
       Repeated("a", 30),
       Repeated("b", 6) + kCut,
       301.552,
       367,
       27},
      // 300 - 3 * 9.3184 - 8 px are left: 35 letters and the ellipsis, which are 257.4 px wide.
      {{.title = "abc", .detail = Repeated("b", 300)},
       "abc",
       Repeated("b", 35) + kCut,
       49.9552,
       320,
       27},
      {{.title = "abc", .lines = {Repeated("Z", 21)}}, "abc", "", 0, 200, 42},
      // 30 letters and the ellipsis of 13 px
      {{.title = Repeated("a", 100)}, Repeated("a", 30) + kCut, "", 0, 319, 27},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.node.title);
    const NodeBox box = BoxOf(row.node);
    EXPECT_EQ(box.title, row.title);
    EXPECT_EQ(box.detail, row.detail);
    EXPECT_NEAR(box.detail_x, row.detail_x, 1e-9);
    EXPECT_EQ(box.width, row.width);
    EXPECT_EQ(box.height, row.height);
  }
  EXPECT_THAT(BoxOf({.lines = {Repeated("a", 300), "b\177"}}).lines,
              ElementsAre(Repeated("a", 41) + kCut, "b?"));
}

void ExpectBox(const NetDrawingLayout::Box& box, double x, double y, double width, double height) {
  EXPECT_EQ(box.x, x);
  EXPECT_EQ(box.y, y);
  EXPECT_EQ(box.width, width);
  EXPECT_EQ(box.height, height);
}

// Two nodes in group 1, whose arrow leads 50 px to their left; a third one in group 0 around it.
TEST(FlowLayoutTest, FramesHoldNodesFramesAndArrows) {
  FlowGraph graph;
  graph.groups = {{.title = "outer"}, {.title = "inner", .parent = 0}, {.parent = 1}};
  graph.nodes = {{.group = 1}, {.group = 1}, {.group = 0}};
  graph.edges = {{.from = 0, .to = 1}, {.from = 2, .to = 0}};
  NetDrawingLayout layout;
  layout.nodes = {{100, 100, 50, 20}, {100, 200, 50, 20}, {300, 100, 50, 20}};
  layout.edges = {{{125, 120}, {25, 120}, {25, 200}, {125, 200}},
                  {{325, 100}, {325, 100}, {125, 100}, {125, 100}}};
  PlaceFrames(graph, {true, true, true}, &layout);
  ASSERT_EQ(layout.groups.size(), 3u);
  // The middle of the curve is at (125 + 3 * 25 + 3 * 25 + 125) / 8 = 50.
  ExpectBox(layout.groups[1], 50 - 14, 100 - 24, 100 + 28, 120 + 24 + 14);
  ExpectBox(layout.groups[0], 36 - 14, 76 - 24, 314 + 28, 158 + 24 + 14);
  EXPECT_EQ(layout.groups[2].width, 0);
  // A frame that is not drawn still keeps its place.
  PlaceFrames(graph, {true, false, true}, &layout);
  EXPECT_EQ(layout.groups[1].width, 0);
  ExpectBox(layout.groups[0], 36 - 14, 76 - 24, 314 + 28, 158 + 24 + 14);
  // A frame around the arrow would contain a node of another group.
  layout.nodes[2] = {60, 150, 8, 8};
  layout.edges[1] = {{64, 150}, {64, 150}, {125, 120}, {125, 120}};
  PlaceFrames(graph, {true, true, true}, &layout);
  ExpectBox(layout.groups[1], 100 - 14, 100 - 24, 50 + 28, 120 + 24 + 14);
  ExpectBox(layout.groups[0], 60 - 14, 76 - 24, 104 + 28, 158 + 24 + 14);
}

// An arrow that leads right of the nodes and below them.
TEST(FlowLayoutTest, FramesHoldArrowsOnEachSide) {
  FlowGraph graph;
  graph.groups = {{.title = "all"}};
  graph.nodes = {{}, {}};
  graph.edges = {{.from = 0, .to = 1}};
  NetDrawingLayout layout;
  layout.nodes = {{100, 100, 50, 20}, {100, 200, 50, 20}};
  const auto frame = [&](const Points& points) {
    layout.edges = {points};
    PlaceFrames(graph, {true}, &layout);
    return layout.groups[0];
  };
  // The middle of the curves is at x = 200, y = 300 and y = 50.
  ExpectBox(frame({{125, 120}, {225, 120}, {225, 200}, {125, 200}}), 86, 76, 100 + 28, 158);
  ExpectBox(frame({{125, 220}, {125, 220 + 320.0 / 3}, {125, 220 + 320.0 / 3}, {125, 220}}), 86, 76,
            50 + 28, 200 + 38);
  ExpectBox(frame({{125, 100}, {125, 100 - 200.0 / 3}, {125, 100 - 200.0 / 3}, {125, 100}}), 86,
            50 - 24, 50 + 28, 170 + 38);
}

// Widths of all printable characters in units of the size: narrow ones, wide ones, capitals, others.
TEST(FlowLayoutTest, EachCharacterHasItsWidth) {
  const std::string narrow = "ijlI|.,:;'!()[] ", wide = "mwMWGOQ@%+=<>#~";
  for (char c = 0x20; c < 0x7f; ++c) {
    const double want = narrow.find(c) != std::string::npos ? 0.40
                        : wide.find(c) != std::string::npos ? 0.97
                        : c >= 'A' && c <= 'Z'              ? 0.75
                                                            : 0.64;
    EXPECT_NEAR(TextWidth(std::string(3, c), 10, false), 30 * want, 1e-9) << c;
    EXPECT_NEAR(TextWidth(std::string(3, c), 10, true), 30 * want * 1.12, 1e-9) << c;
  }
  EXPECT_NEAR(TextWidth("\xE2\x82\xAC", 10, true), 10, 1e-9);
}

// Rows of a backward pass are centered below each other, right of the widest row of the others.
TEST(FlowLayoutTest, RowsOfBackwardPassesAreCentered) {
  FlowGraph graph;
  graph.groups = {{.framed = false}, {.parent = 0, .framed = false}};
  graph.nodes = {{}, {.group = 1}, {.group = 1}, {.group = 1, .layer = 1}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  ExpectBox(layout.nodes[0], 0, 8, 90, 27);
  ExpectBox(layout.nodes[1], 90 + 76, 8, 90, 27);
  ExpectBox(layout.nodes[2], 90 + 76 + 114, 8, 90, 27);
  ExpectBox(layout.nodes[3], 90 + 76 + 57, 8 + 71, 90, 27);
}

// Arrows that end and begin in the same row are beside each other there.
TEST(FlowLayoutTest, ALaneIsTakenToTheRowInWhichItsArrowEnds) {
  FlowGraph graph;
  graph.groups = {{.framed = false}};
  for (int i = 0; i < 6; ++i) graph.nodes.push_back({.layer = i});
  graph.edges = {{.from = 0, .to = 2}, {.from = 2, .to = 4}, {.from = 3, .to = 5}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  const auto lane = [&](size_t edge) { return layout.edges[edge][6].x; };
  EXPECT_EQ(lane(0), 90 + 24);
  EXPECT_EQ(lane(1), 90 + 24 + 12);
  EXPECT_EQ(lane(2), 90 + 24);
}

// A chain of six nodes, one in each row, and arrows that skip rows or lead back.
TEST(FlowLayoutTest, ArrowsThatPassRowsHaveLanesOfTheirOwn) {
  FlowGraph graph;
  graph.groups = {{.framed = false}};
  for (int i = 0; i < 6; ++i) graph.nodes.push_back({.layer = i});
  for (size_t i = 0; i < 5; ++i) graph.edges.push_back({.from = i, .to = i + 1});
  graph.edges.push_back({.from = 0, .to = 2});                                    // 5
  graph.edges.push_back({.from = 3, .to = 0, .kind = FlowEdge::Kind::kCarried});  // 6
  graph.edges.push_back({.from = 1, .to = 3});                                    // 7
  graph.edges.push_back({.from = 3, .to = 5});                                    // 8
  const NetDrawingLayout layout = LayeredLayout(graph);
  // Rows of 27 px, 44 px apart. The arrow to the first row begins 11 px above it, which is the upper
  // end of the drawing.
  constexpr double kTop = 11;
  for (size_t i = 0; i < 6; ++i) {
    ExpectBox(layout.nodes[i], 0, kTop + 71 * static_cast<double>(i), 90, 27);
  }
  const auto lane = [&](size_t edge) { return layout.edges[edge][6].x; };
  EXPECT_EQ(lane(5), 90 + 24);
  EXPECT_EQ(lane(6), 90 + 24 + 12);
  EXPECT_EQ(lane(7), 90 + 24 + 24);
  EXPECT_EQ(lane(8), 90 + 24);  // the first lane is free from row 3 on
  EXPECT_EQ(layout.width, 90 + 24 + 24);
  EXPECT_EQ(layout.height, kTop + 71 * 5 + 27);
  // Down from the lower side of node 3, and to the upper side of node 0.
  const Points& back = layout.edges[6];
  ASSERT_EQ(back.size(), 16u);
  EXPECT_EQ(back.front().y, kTop + 71 * 3 + 27);
  EXPECT_EQ(back[3].y, kTop + 71 * 3 + 27 + 11);
  EXPECT_EQ(back[9].y, 0);
  EXPECT_EQ(back.back().y, kTop);
  EXPECT_EQ(back.back().x, 45);
}

TEST(FlowLayoutTest, NetsAreApartAndBackwardPassesOnTheRight) {
  FlowGraph graph;
  graph.groups = {{.framed = false},
                  {.framed = false},
                  {.parent = 1, .framed = false},
                  {.parent = 1, .framed = false, .repeats = 3}};
  graph.nodes = {{.net = 0, .group = 0},
                 {.net = 0, .group = 0},
                 {.net = 1, .group = 1},
                 {.net = 1, .group = 2},
                 {.net = 1, .group = 3, .layer = 1}};
  const NetDrawingLayout layout = LayeredLayout(graph);
  // The first row has two nodes with 24 px between them. The next net begins 2 * (24 + 14) px lower.
  ExpectBox(layout.nodes[0], 0, 8, 90, 27);
  ExpectBox(layout.nodes[1], 114, 8, 90, 27);
  ExpectBox(layout.nodes[2], 57, 8 + 71 + 76, 90, 27);
  ExpectBox(layout.nodes[3], 204 + 76, 8 + 71 + 76, 90, 27);
  ExpectBox(layout.nodes[4], 57, 8 + 71 + 76 + 71, 90, 27);  // a repeated block stays on the left
}

// The first node of Graphviz's layout is on the right, so that it is mirrored.
TEST(FlowLayoutTest, LayoutsOfGraphvizBeginOnTheLeft) {
  FlowGraph graph;
  graph.groups = {{.framed = false}};
  graph.nodes = {{}, {}};
  graph.edges = {{.from = 0, .to = 1}};
  const auto read = [&](const std::string& first, const std::string& second) {
    return ReadGraphvizLayout(graph, "graph 1 10 5\nnode n0 " + first + " 4 1 1 \"\"\nnode n1 " +
                                         second + " 1 1 1 \"\"\n" +
                                         "edge n0 n1 4 9 4 8 3 7 2 1 1 solid\nstop\n");
  };
  const NetDrawingLayout mirrored = read("9", "1");
  ExpectBox(mirrored.nodes[0], 27, 72 - 13.5, 90, 27);
  ExpectBox(mirrored.nodes[1], 603, 288 - 13.5, 90, 27);
  EXPECT_EQ(mirrored.edges[0][0].x, 72);
  EXPECT_EQ(mirrored.edges[0][0].y, 72);
  EXPECT_EQ(mirrored.edges[0][3].x, 648);
  EXPECT_EQ(mirrored.edges[0][3].y, 288);
  const NetDrawingLayout kept = read("1", "9");
  ExpectBox(kept.nodes[0], 27, 72 - 13.5, 90, 27);
  EXPECT_EQ(kept.edges[0][0].x, 648);
  EXPECT_EQ(kept.width, 720);
  EXPECT_EQ(kept.height, 360);
}

// An operator with `count` inputs at position 1, and one at position 0.
FlowGraph GraphWithInputs(size_t count, size_t last_net = 0) {
  FlowGraph graph;
  graph.groups = {{}};
  graph.nodes = {{}, {.kind = FlowNode::Kind::kInput, .title = "x"}};
  graph.edges = {{.from = 1, .to = 0, .input = 0, .blobs = {"x"}, .num_blobs = 1}};
  for (size_t i = 0; i < count; ++i) {
    const std::string name = MakeString("w", i);
    graph.nodes.push_back({.kind = FlowNode::Kind::kInput,
                           .net = i + 1 == count ? last_net : 0,
                           .title = name,
                           .lines = {"input"}});
    graph.edges.push_back(
        {.from = graph.nodes.size() - 1, .to = 0, .input = 1, .blobs = {name}, .num_blobs = 1});
  }
  return graph;
}

TEST(FlowLayoutTest, ManyInputsOfOnePositionBecomeOneNode) {
  FlowGraph four = GraphWithInputs(4);
  MergeInputs(&four);
  EXPECT_EQ(four.nodes.size(), 6u);
  FlowGraph apart = GraphWithInputs(5, 1);
  MergeInputs(&apart);
  EXPECT_EQ(apart.nodes.size(), 7u);
  FlowGraph ten = GraphWithInputs(10);
  MergeInputs(&ten);
  ASSERT_EQ(ten.nodes.size(), 3u);
  EXPECT_EQ(ten.nodes[1].title, "x");
  EXPECT_EQ(ten.nodes[2].title, "10 inputs");
  EXPECT_THAT(ten.nodes[2].lines, ElementsAre("w0", "w1", "w2", "+ 7 more"));
  EXPECT_EQ(ten.nodes[2].names.size(), 10u);
  ASSERT_EQ(ten.edges.size(), 2u);
  EXPECT_EQ(ten.edges[1].from, 2u);
  EXPECT_EQ(ten.edges[1].num_blobs, 10u);
  EXPECT_EQ(BlobNames(ten.edges[1]), "w0, w1, w2, w3, w4, w5, w6, w7 and 2 more");
}

TEST(FlowLayoutTest, LayersCountTheLongestPathWithoutArrowsThatLeadBack) {
  FlowGraph graph;
  graph.nodes.resize(5);
  graph.edges = {{.from = 0, .to = 1},
                 {.from = 1, .to = 2},
                 {.from = 0, .to = 2},
                 {.from = 2, .to = 0, .kind = FlowEdge::Kind::kCarried},
                 {.from = 0, .to = 3, .kind = FlowEdge::Kind::kControl},
                 {.from = 2, .to = 4}};
  AssignLayers(&graph);
  const int layers[] = {0, 1, 2, 1, 3};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(graph.nodes[i].layer, layers[i]) << i;
  EXPECT_TRUE(IsSkip(graph, graph.edges[2]));
  for (const size_t edge : {0, 1, 3, 4, 5}) EXPECT_FALSE(IsSkip(graph, graph.edges[edge])) << edge;
  FlowEdge control = graph.edges[2];
  control.kind = FlowEdge::Kind::kControl;
  EXPECT_FALSE(IsSkip(graph, control));
  graph.nodes[2].kind = FlowNode::Kind::kOutput;
  EXPECT_FALSE(IsSkip(graph, graph.edges[2]));
}

// Four colors in turn; one that another arrow at the same end has is passed over while there are
// others.
TEST(FlowLayoutTest, SkipConnectionsOfANodeDiffer) {
  FlowGraph graph;
  graph.groups = {{.framed = false}};
  NetDrawingLayout layout;
  const int layers[] = {0, 1, 2, 3, 3, 3, 3, 3};
  for (int i = 0; i < 8; ++i) {
    graph.nodes.push_back({.title = "T", .layer = layers[i]});
    layout.nodes.push_back({60.0 * i, 100.0 * layers[i], 50, 40});
  }
  for (const auto& [from, to] : std::vector<std::pair<size_t, size_t>>{
           {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {1, 3}, {0, 2}, {0, 1}}) {
    graph.edges.push_back({.from = from, .to = to, .blobs = {"b"}, .num_blobs = 1});
    layout.edges.push_back({{0, 0}, {0, 0}, {0, 0}, {0, 0}});
  }
  layout.groups = {{}};
  const auto classes = [&] {
    const std::string svg = SvgImage(graph, layout, "t", "s");
    std::vector<std::string> found;
    const std::string begin = "<g class=\"edge";
    for (size_t at = 0; (at = svg.find(begin, at)) != std::string::npos;) {
      at += begin.size();
      found.push_back(svg.substr(at, svg.find('"', at) - at));
    }
    return found;
  };
  EXPECT_THAT(classes(), ElementsAre(" skip0", " skip1", " skip2", " skip3", " skip0", " skip1",
                                     " skip2", ""));
  // Beside each other, no arrow passes a row.
  layout.nodes[1].y = layout.nodes[2].y = 0;
  EXPECT_THAT(classes(), ElementsAre("", "", "", "", "", "", "", ""));
}

TEST(FlowLayoutTest, BlocksWithoutAFrameHaveTheirTitleBesideTheNode) {
  FlowGraph graph;
  graph.groups = {{.framed = false}, {.title = "x 3", .parent = 0, .repeats = 3}};
  graph.nodes = {{.group = 1, .title = "T"}};
  NetDrawingLayout layout;
  layout.width = 600;
  layout.nodes = {{10, 20, 90, 40}};
  layout.groups = {{}, {}};
  const std::string beside = "<text x=\"123\" y=\"";  // 20 + 10 + 90 + 3
  EXPECT_THAT(SvgImage(graph, layout, "t", "s"), HasSubstr(beside));
  layout.groups[1] = {0, 0, 110, 70};
  const std::string framed = SvgImage(graph, layout, "t", "s");
  EXPECT_THAT(framed, Not(HasSubstr(beside)));
  EXPECT_THAT(framed, HasSubstr("<title>repeated 3 times</title>"));
}

std::string OpText(const std::string& type, const std::string& in, const std::string& out,
                   const std::string& more = "") {
  return MakeString("op { type: \"", type, "\" input: \"", in, "\" output: \"", out, "\" ", more,
                    " }\n");
}

// Two stages of three steps and a pool; and a chain of gradient operators.
TEST(FlowLayoutTest, FramesOfBlocksLieInTheFramesAroundThem) {
  EnsureBuiltinOperators();
  std::string text, last = "x";
  for (int stage = 0; stage < 2; ++stage) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = MakeString("s", stage, "_", i);
      text += OpText("Relu", last, name + "_r") + OpText("Tanh", name + "_r", name + "_t") +
              OpText("Sum", name + "_t", name, "input: \"" + last + "\"");
      last = name;
    }
    text += OpText("MaxPool", last, MakeString("pool", stage), "arg { name: \"kernel\" i: 2 }");
    last = MakeString("pool", stage);
  }
  const NetDef net = ParseNet(text);
  const NetSummary summary = SummarizeNet({}, net, {});
  const FlowGraph graph = MakeFlowGraph({{&net, &summary, "n"}}, {.fold = true});
  ASSERT_EQ(graph.groups.size(), 3u);
  EXPECT_EQ(graph.groups[0].parent, FlowGroup::kNone);
  EXPECT_EQ(graph.groups[1].parent, 0u);
  EXPECT_EQ(graph.groups[1].repeats, 2u);
  EXPECT_EQ(graph.groups[2].parent, 1u);
  EXPECT_EQ(graph.groups[2].repeats, 3u);

  std::string backward = OpText("Tanh", "x", "y");
  for (int i = 0; i < 4; ++i) {
    backward += OpText("Relu", i == 0 ? "y" : MakeString("g", i - 1), MakeString("g", i),
                       "is_gradient_op: true");
  }
  const NetDef pass = ParseNet(backward);
  const NetSummary of_pass = SummarizeNet({}, pass, {});
  const FlowGraph with_pass = MakeFlowGraph({{&pass, &of_pass, "n"}}, {.fold = true});
  ASSERT_EQ(with_pass.groups.size(), 3u);
  EXPECT_EQ(with_pass.groups[1].title, "backward pass");
  EXPECT_EQ(with_pass.groups[2].parent, 1u);
  EXPECT_EQ(with_pass.groups[2].repeats, 4u);
}

TEST(FlowLayoutTest, SubtitlesCountInMillions) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(OpText("Relu", "x", "y"));
  NetSummary summary = SummarizeNet({}, net, {});
  const auto subtitle = [&](int64_t parameters, int64_t multiply_adds) {
    summary.parameters = parameters;
    summary.multiply_adds = multiply_adds;
    const std::string svg = NetAsSvg(net, summary);
    const size_t at = svg.find("1 operator");
    return svg.substr(at, svg.find('<', at) - at);
  };
  EXPECT_EQ(subtitle(0, 0), "1 operator");
  EXPECT_EQ(subtitle(1, 0), "1 operator, 1 parameter");
  EXPECT_EQ(subtitle(9999, 1), "1 operator, 9999 parameters, 1 multiply-add");
  EXPECT_EQ(subtitle(10000, 12345),
            "1 operator, 0.010 million parameters, 0.012 million multiply-adds");
  EXPECT_EQ(subtitle(0, 999900), "1 operator, 1.000 million multiply-adds");
  EXPECT_EQ(subtitle(1000000, 123456789),
            "1 operator, 1.0 million parameters, 123.5 million multiply-adds");
  summary.parameters = 10;
  const NetDrawing both({{&net, &summary, "a"}, {&net, &summary, "b"}}, {});
  EXPECT_THAT(both.Svg(both.PlainLayout()), HasSubstr(">2 nets, 2 operators<"));
}

}  // namespace
}  // namespace caffe2rt::test::flow_layout_test
