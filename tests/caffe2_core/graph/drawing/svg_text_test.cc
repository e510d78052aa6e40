// SVG images of given layouts as whole texts, and the plain layout, both computed by hand from
// drawing/node_box.h: text of 11 px (titles 13 px, bold), narrow letters 0.40, capitals 0.75, others
// 0.64 of the size, bold 1.12 times as wide.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::svg_text_test {
namespace {

using Points = std::vector<NetDrawingLayout::Point>;

// Nodes: Conv, x, Relu, Sum, y. Edges: x to Conv, Conv to Relu, Relu to Sum, Conv to Sum, Sum to y.
constexpr char kNet[] = R"(external_output: "y"
    op { type: "Conv" input: "x" input: "w" output: "c" arg { name: "kernel" i: 3 } }
    op { type: "Relu" input: "c" output: "r" }
    op { type: "Sum" input: "r" input: "c" output: "y" })";

class SvgTextTest : public ::testing::Test {
 protected:
  SvgTextTest()
      : net_(ParseNet(kNet)), summary_((EnsureBuiltinOperators(), SummarizeNet({}, net_, {}))) {}
  const NetDef net_;
  const NetSummary summary_;
};

TEST_F(SvgTextTest, PlacesRowsAndLanes) {
  const NetDrawing drawing({{&net_, &summary_, "n"}}, {});
  const NetDrawingLayout layout = drawing.PlainLayout();
  // Rows of 42 px (18 to the first baseline, one more line of 15, 9 below), 44 px apart. The box of
  // Conv is 14 + 38.9 + 8 + 25.1 + 12 px wide, rounded up, the others have the least width. The
  // lane of the edge that skips a row is 24 px right of the widest box.
  EXPECT_EQ(layout.width, 49 + 73);
  EXPECT_EQ(layout.height, 394);
  const double y[] = {94, 8, 180, 266, 352};
  ASSERT_EQ(layout.nodes.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(layout.nodes[i].x, i == 0 ? 0 : 4) << i;
    EXPECT_EQ(layout.nodes[i].y, y[i]) << i;
    EXPECT_EQ(layout.nodes[i].width, i == 0 ? 98 : 90) << i;
    EXPECT_EQ(layout.nodes[i].height, 42) << i;
  }
  const auto text = [](const Points& points) {
    std::string all;
    for (const auto& point : points)
      all += MakeString(all.empty() ? "" : " ", point.x, ",", point.y);
    return all;
  };
  ASSERT_EQ(layout.edges.size(), 5u);
  EXPECT_EQ(text(layout.edges[0]), "49,50 49,72 49,72 49,94");
  EXPECT_EQ(text(layout.edges[2]), "49,222 49,244 49,244 49,266");
  EXPECT_EQ(
      text(layout.edges[3]),
      "49,136 49,136 49,147 49,147 49,147 122,147 122,147 122,147 122,255 122,255 122,255 49,255 "
      "49,255 49,255 49,266 49,266");
  ASSERT_EQ(layout.groups.size(), 1u);
  EXPECT_EQ(layout.groups[0].width, 0);
}

TEST_F(SvgTextTest, DrawsALayout) {
  const NetDrawing drawing({{&net_, &summary_, "n"}}, {.title = "a < b"});
  NetDrawingLayout layout;
  layout.width = 200;
  layout.height = 300;
  layout.nodes = {{50.5, 60, 100, 40},
                  {0, 0, 100, 40},
                  {0, 120, 100, 40},
                  {0, 180, 100, 40},
                  {0, 240, 100, 20}};
  for (int i = 0; i < 5; ++i) {
    const auto at = static_cast<double>(i);
    layout.edges.push_back({{at, 1}, {at, 2}, {at, 3}, {at, 4}});
  }
  layout.groups = {{}};
  const std::string svg = drawing.Svg(layout);
  // The image has at least 560 px besides its margins of 20: the drawing begins at (20 + 180, 86),
  // below the header of 66 px.
  const std::string begin =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"600\" height=\"406\" "
      "viewBox=\"0 0 600 "
      "406\">\n<title>a &lt; b</title>\n<style>text{";
  EXPECT_EQ(svg.substr(0, begin.size()), begin);
  const std::string paper = "</defs>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
  ASSERT_NE(svg.find(paper), std::string::npos);
  const auto swatch = [](const std::string& family, const std::string& x, const std::string& text_x,
                         const std::string& title) {
    return "<rect class=\"swatch " + family + "\" x=\"" + x +
           "\" y=\"64\" width=\"12\" height=\"12\"/><rect class=\"bar " + family + "\" x=\"" + x +
           "\" y=\"64\" width=\"5\" height=\"12\"/><text x=\"" + text_x +
           "\" y=\"74\" class=\"legend\">" + title + "</text>\n";
  };
  const auto edge = [](int i, const std::string& blob, bool skip = false) {
    const int x = 200 + i;
    const std::string path = MakeString("d=\"M", x, " 87 C", x, " 88 ", x, " 89 ", x, " 90\"");
    return MakeString("<g class=\"edge", skip ? " skip0" : "", "\" id=\"e", i, "\"><title>", blob,
                      "</title>", skip ? "<path class=\"halo\" " + path + "/>" : "", "<path ", path,
                      " marker-end=\"url(#", skip ? "skip0" : "flow", ")\"/></g>\n");
  };
  const auto round = [](const std::string& kind, int i, int y, int height, int radius,
                        const std::string& name) {
    return MakeString("<g class=\"node ", kind, "\" id=\"n", i, "\"><title>", name, "; ", kind,
                      "</title><rect class=\"box\" x=\"200\" y=\"", y, "\" width=\"100\" height=\"",
                      height, "\" rx=\"", radius, "\"/><text x=\"214\" y=\"", y + 18,
                      "\" class=\"type\">", name, "</text><text x=\"214\" y=\"", y + 33,
                      "\" class=\"line\">", kind, "</text></g>\n");
  };
  const auto node = [](const std::string& family, int i, const std::string& x, int y,
                       const std::string& text_x, const std::string& title,
                       const std::string& detail, const std::string& line) {
    return MakeString("<g class=\"node ", family, "\" id=\"n", i, "\"><title>", title,
                      detail.empty() ? ""
                                     : "  3\xC3\x97"
                                       "3",
                      "; ", line, "</title><rect class=\"box\" x=\"", x, "\" y=\"", y,
                      "\" width=\"100\" height=\"40\" rx=\"4\"/><rect class=\"bar\" x=\"", x,
                      "\" y=\"", y, "\" width=\"6\" height=\"40\" rx=\"3\"/><text x=\"", text_x,
                      "\" y=\"", y + 18, "\" class=\"type\">", title, "</text>", detail,
                      "<text x=\"", text_x, "\" y=\"", y + 33, "\" class=\"line\">", line,
                      "</text></g>\n");
  };
  EXPECT_EQ(svg.substr(svg.find(paper) + paper.size()),
            "<text x=\"20\" y=\"36\" class=\"header\">a &lt; b</text>\n"
            "<text x=\"20\" y=\"54\" class=\"legend\">3 operators</text>\n" +
                swatch("conv", "20", "38", "convolution") +
                swatch("act", "128.2", "146.2", "activation") +
                swatch("elem", "229.3", "247.3", "elementwise") + edge(0, "x") + edge(1, "c") +
                edge(2, "r") + edge(3, "c", true) + edge(4, "y") +
                node("conv", 0, "250.5", 146, "264.5", "Conv",
                     "<text x=\"311.4\" y=\"164\" class=\"detail\">3\xC3\x97"
                     "3</text>",
                     "c") +
                round("input", 1, 86, 40, 18, "x") +
                node("act", 2, "200", 206, "214", "Relu", "", "r") +
                node("elem", 3, "200", 266, "214", "Sum", "", "y") +
                round("output", 4, 326, 20, 10, "y") + "</svg>\n");
}

// The arrow from Conv to Sum is a color of its own where Relu lies between their rows, up to half a
// pixel of overlap at either end.
TEST_F(SvgTextTest, ColorsArrowsThatPassANode) {
  const NetDrawing drawing({{&net_, &summary_, "n"}}, {});
  const auto passes = [&](double top, double height, double last = 400) {
    NetDrawingLayout layout;
    layout.width = 200;
    layout.height = 500;
    // Conv, x, Relu, Sum, y.
    layout.nodes = {{0, 100, 100, 40},
                    {0, 0, 100, 40},
                    {0, top, 100, height},
                    {0, 300, 100, 40},
                    {0, last, 100, 20}};
    layout.edges.assign(5, {{1, 1}, {2, 2}, {3, 3}, {4, 4}});
    layout.groups = {{}};
    return drawing.Svg(layout).find("class=\"edge skip0\" id=\"e3\"") != std::string::npos;
  };
  EXPECT_TRUE(passes(200, 40));
  EXPECT_TRUE(passes(140, 40));
  EXPECT_TRUE(passes(139.6, 40));
  EXPECT_FALSE(passes(139.4, 40));
  EXPECT_FALSE(passes(100, 40));  // in the row of Conv
  EXPECT_TRUE(passes(260, 40));
  EXPECT_TRUE(passes(260, 40.4));
  EXPECT_FALSE(passes(260, 40.6));
  EXPECT_FALSE(passes(300, 40));  // in the row of Sum
  EXPECT_TRUE(passes(140, 160));
  // The last node above all others is not between the rows.
  EXPECT_TRUE(passes(200, 40, -50));
  EXPECT_FALSE(passes(300, 40, -50));
}

TEST_F(SvgTextTest, TitlesAreGivenOrThoseOfTheFirstNet) {
  const auto title = [&](const std::string& given) {
    const NetDrawing drawing({{&net_, &summary_, "first"}, {&net_, &summary_, "second"}},
                             {.title = given});
    const std::string svg = drawing.Svg(drawing.PlainLayout());
    const size_t at = svg.find("<title>") + 7;
    return svg.substr(at, svg.find('<', at) - at);
  };
  EXPECT_EQ(title(""), "first");
  EXPECT_EQ(title("third"), "third");
}

// Repeated blocks have dashed frames and arrows that lead back; nets of a plan have frames with their
// names, and the weights of the one below have one arrow.
TEST_F(SvgTextTest, FramesBlocksAndNets) {
  std::string steps;
  for (int i = 0; i < 4; ++i) {
    steps += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"s", i,
                        "\" } op { type: \"Tanh\" input: \"s", i, "\" output: \"h", i + 1, "\" } ");
  }
  const NetDef init = ParseNet(R"(op { type: "XavierFill" output: "x1" })"), net = ParseNet(steps);
  const NetSummary a = SummarizeNet({}, init, {}), b = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&init, &a, "i"}, {&net, &b, "m"}}, {.fold = true, .title = "t"});
  NetDrawingLayout layout = drawing.PlainLayout();
  ASSERT_EQ(layout.groups.size(), 3u);
  layout.width = layout.height = 100;
  layout.groups = {{1, 2, 30, 40}, {3, 4, 50, 60}, {5, 6, 70, 80}};
  const std::string svg = drawing.Svg(layout);
  for (const char* part :
       {"<g class=\"frame net\" id=\"g0\"><title>i</title><rect x=\"251\" y=\"",
        "<g class=\"frame repeated\" id=\"g2\"><title>repeated 4 times</title><rect x=\"255\" y=\"",
        "width=\"70\" height=\"80\" rx=\"8\"/></g>", "class=\"frame-title\">\xC3\x97 4</text>",
        " (to the next repetition)</title>", "<g class=\"edge carried\"",
        "<text x=\"20\" y=\"96\" class=\"legend\">Dashed arrows lead to the next "
        "repetition.</text>",
        "class=\"legend\">2 nets, 9 operators</text>"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part << "\n" << svg;
  }
}

}  // namespace
}  // namespace caffe2rt::test::svg_text_test
