// Places and colors in images of graphs that are made by hand: rows of the legend, arrows that end at one
// node, and inputs that many operators read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/merged_inputs.h"
#include "caffe2_core/graph/drawing/svg_image.h"

namespace caffe2rt::test::svg_places_test {
namespace {

using ::testing::ElementsAre;

// The texts between `begin` and the next quote.
std::vector<std::string> AllAfter(const std::string& text, const std::string& begin) {
  std::vector<std::string> found;
  for (size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    found.push_back(text.substr(at, text.find('"', at) - at));
  }
  return found;
}

// The lines of the legend as "x y title". Each item is a swatch of 12 px, 6 px and its title, 18 px before
// the next one. The image is 600 px wide, with margins of 20 px.
std::vector<std::string> LegendOf(const std::vector<OperatorFamily>& families) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  NetDrawingLayout layout;
  for (const OperatorFamily family : families) {
    graph.nodes.push_back({.title = "T", .family = family});
    layout.nodes.push_back({0, 0, 50, 40});
  }
  layout.groups = {{}};
  const std::string svg = SvgImage(graph, layout, "t", "s");
  std::vector<std::string> lines;
  const std::string begin = "<rect class=\"swatch ";
  for (size_t at = 0; (at = svg.find(begin, at)) != std::string::npos; ++at) {
    const std::string item = svg.substr(at, svg.find('\n', at) - at);
    const size_t title = item.find("class=\"legend\">") + 15;
    lines.push_back(AllAfter(item, " x=\"")[0] + " " + AllAfter(item, " y=\"")[0] + " " +
                    item.substr(title, item.find('<', title) - title));
    EXPECT_LE(std::stod(AllAfter(item, " x=\"")[2]) +
                  TextWidth(item.substr(title, item.find('<', title) - title), 11, false),
              600 - 20)
        << item;
  }
  return lines;
}

TEST(SvgPlacesTest, ItemsOfTheLegendStayInTheImage) {
  using enum OperatorFamily;
  // 18 px and the titles, of letters of 0.64 (i and l: 0.4, m and w: 0.97, spaces: 0.4) times 11 px:
  // pooling 3 * 0.64 + ... as in markup.h; the next items begin 18 px behind.
  const auto width = [](const char* title) { return 12 + 6 + TextWidth(title, 11, false) + 18; };
  const auto at = [](double x, int y, const char* title) {
    const int tenths = static_cast<int>(x * 10 + 0.5);
    return MakeString(tenths / 10, tenths % 10 == 0 ? "" : MakeString(".", tenths % 10), " ", y,
                      " ", title);
  };
  const char* const titles[] = {"convolution",           "pooling",
                                "normalization",         "activation",
                                "elementwise",           "shape and indexing",
                                "matrix multiplication", "loss and metric",
                                "data and fill",         "other"};
  std::vector<std::string> want;
  double x = 20;
  int y = 64;
  std::set<int> rows;
  for (const char* title : titles) {
    if (x > 20 && x + width(title) - 18 > 580) {
      x = 20;
      y += 22;
    }
    want.push_back(at(x, y, title));
    rows.insert(y);
    x += width(title);
  }
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_EQ(LegendOf({kOther, kConv, kPool, kNorm, kActivation, kElementwise, kShape, kMatMul,
                      kLoss, kData, kConv}),
            want);
  // The last item would end at 580.97 px, which is in the margin.
  EXPECT_EQ(LegendOf({kConv, kPool, kNorm, kElementwise, kShape}).back(),
            "20 86 shape and indexing");
  // Here it ends at 579.87 px.
  EXPECT_THAT(LegendOf({kConv, kPool, kNorm, kShape, kData}).back(),
              ::testing::EndsWith(" 64 data and fill"));
  EXPECT_THAT(
      LegendOf({kLoss, kConv}),
      ElementsAre("20 64 convolution", at(20 + width("convolution"), 64, "loss and metric")));
  EXPECT_THAT(LegendOf({}), ElementsAre());
}

// Arrows from row 0 to row 2, which pass a node in row 1.
std::vector<std::string> ColorsOf(const std::vector<std::pair<size_t, size_t>>& edges) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  NetDrawingLayout layout;
  for (int i = 0; i < 11; ++i) {
    const int layer = i < 5 ? 0 : i == 5 ? 1 : 2;
    graph.nodes.push_back({.title = "T", .layer = layer});
    layout.nodes.push_back({60.0 * i, 100.0 * layer, 50, 40});
  }
  for (const auto& [from, to] : edges) {
    graph.edges.push_back({.from = from, .to = to, .blobs = {"b"}, .num_blobs = 1});
    layout.edges.push_back({{0, 0}, {0, 0}, {0, 0}, {0, 0}});
  }
  layout.groups = {{}};
  return AllAfter(SvgImage(graph, layout, "t", "s"), "<g class=\"edge skip");
}

TEST(SvgPlacesTest, ArrowsThatBeginOrEndAtOneNodeDiffer) {
  EXPECT_THAT(ColorsOf({{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}}),
              ElementsAre("0", "1", "2", "3", "0"));
  // The fifth arrow would have the color of the first one, which ends where it does, or begins there.
  EXPECT_THAT(ColorsOf({{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 6}, {4, 7}}),
              ElementsAre("0", "1", "2", "3", "1", "2"));
  EXPECT_THAT(ColorsOf({{0, 6}, {1, 7}, {2, 8}, {3, 9}, {0, 10}, {1, 10}}),
              ElementsAre("0", "1", "2", "3", "1", "2"));
  EXPECT_THAT(ColorsOf({{0, 6}, {1, 7}, {2, 8}, {1, 9}, {0, 7}}),
              ElementsAre("0", "1", "2", "3", "2"));
  // All colors are taken: the next one in turn.
  EXPECT_THAT(ColorsOf({{0, 6}, {0, 7}, {0, 8}, {0, 9}, {0, 10}}),
              ElementsAre("0", "1", "2", "3", "0"));
}

TEST(SvgPlacesTest, EveryFamilyHasItsColors) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  NetDrawingLayout layout;
  layout.groups = {{}};
  const std::string svg = SvgImage(graph, layout, "t", "s");
  for (int i = 0; i < kNumOperatorFamilies; ++i) {
    const auto family = static_cast<OperatorFamily>(i);
    const std::string name = FamilyClass(family);
    EXPECT_THAT(svg, ::testing::HasSubstr("." + name + " .box,.swatch." + name +
                                          "{fill:" + FamilyFill(family) + "}"));
    EXPECT_THAT(svg, ::testing::HasSubstr("." + name + " .bar,.bar." + name +
                                          "{fill:" + FamilyColor(family) + "}"));
  }
}

// A title that is wider than its frame is shortened: 8 px are left free at either side.
TEST(SvgPlacesTest, TitlesFitIntoTheirFrames) {
  const std::string title = "prediction of all categories";
  for (const double width : {40.0, 60.0, 100.0, 150.0, 400.0}) {
    FlowGraph graph;
    graph.groups = {{.title = title}};
    graph.nodes = {{.title = "T"}};
    NetDrawingLayout layout;
    layout.nodes = {{10, 30, 20, 27}};
    layout.groups = {{0, 0, width, 80}};
    const std::string svg = SvgImage(graph, layout, "t", "s");
    const std::string begin = "class=\"frame-title\">";
    const size_t at = svg.find(begin) + begin.size();
    const std::string shown = svg.substr(at, svg.find('<', at) - at);
    const std::string dots = "\xE2\x80\xA6";
    EXPECT_LE(TextWidth(shown, 13, true), width - 16) << shown;
    if (TextWidth(title, 13, true) <= width - 16) {
      EXPECT_EQ(shown, title);
      continue;
    }
    ASSERT_TRUE(shown.ends_with(dots)) << shown;
    const size_t kept = shown.size() - dots.size();
    EXPECT_EQ(shown.substr(0, kept), title.substr(0, kept));
    EXPECT_GT(TextWidth(title.substr(0, kept + 1) + dots, 13, true), width - 16) << shown;
  }
}

// Arrows may leave the image, which begins 250 px left of the layout and 86 px above.
TEST(SvgPlacesTest, PlacesMayBeNegative) {
  FlowGraph graph;
  graph.groups = {{.title = "", .framed = false}};
  graph.nodes = {{.title = "A"}, {.title = "B", .layer = 1}};
  graph.edges = {{.from = 0, .to = 1, .blobs = {"b"}, .num_blobs = 1}};
  NetDrawingLayout layout;
  layout.width = 100;
  layout.nodes = {{0, 0, 50, 27}, {0, 100, 50, 27}};
  layout.edges = {{{-300.25, -100}, {-250.5, 0.25}, {-262.5, 14}, {0, -86}}};
  layout.groups = {{}};
  EXPECT_THAT(SvgImage(graph, layout, "t", "s"),
              ::testing::HasSubstr("d=\"M-50.2 -14 C-0.5 86.2 -12.5 100 250 0\""));
}

// Operators 0 and 1 read all inputs, in any order, at the stated positions.
std::vector<std::string> InputsOf(const std::vector<bool>& backwards, size_t last_position = 0) {
  FlowGraph graph;
  graph.groups = {{}};
  graph.nodes = {{.title = "A"}, {.title = "B"}};
  for (const bool back : backwards) {
    const size_t input = graph.nodes.size();
    const std::string name = MakeString("w", input - 2);
    graph.nodes.push_back({.kind = FlowNode::Kind::kInput, .title = name, .lines = {"input"}});
    const size_t position = input - 1 == backwards.size() ? last_position : 0;
    for (const size_t to : {back ? size_t{1} : size_t{0}, back ? size_t{0} : size_t{1}}) {
      graph.edges.push_back(
          {.from = input, .to = to, .input = position, .blobs = {name}, .num_blobs = 1});
    }
  }
  MergeInputs(&graph);
  std::vector<std::string> titles;
  for (const FlowNode& node : graph.nodes) {
    if (node.kind == FlowNode::Kind::kInput) titles.push_back(node.title);
  }
  for (const FlowEdge& edge : graph.edges) {
    titles.push_back(MakeString(edge.from, ">", edge.to, " ", BlobNames(edge)));
  }
  return titles;
}

TEST(SvgPlacesTest, InputsOfTheSameReadersAreOneNode) {
  const std::string all = "w0, w1, w2, w3, w4";
  EXPECT_THAT(InputsOf({false, false, false, false, false}),
              ElementsAre("5 inputs", "2>0 " + all, "2>1 " + all));
  EXPECT_THAT(InputsOf({false, true, false, true, true}),
              ElementsAre("5 inputs", "2>0 " + all, "2>1 " + all));
  // Four remain apart: one is read at another position.
  EXPECT_EQ(InputsOf({false, true, false, true, true}, 1).size(), 5u + 10u);
  EXPECT_EQ(InputsOf({false, true, false, true}).size(), 4u + 8u);
}

}  // namespace
}  // namespace caffe2rt::test::svg_places_test
