#include "caffe2_core/graph/net_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/svg_boxes.h"

namespace caffe2rt::test::net_drawing_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

constexpr char kNet[] = R"(
  name: "n" external_output: "y"
  op { type: "Conv" input: "x" input: "w" input: "b" output: "c"
       arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } arg { name: "pad" i: 1 } arg { name: "group" i: 4 } }
  op { type: "Relu" input: "c" output: "r" }
  op { type: "Sum" input: "r" input: "c" output: "y" })";

class NetDrawingTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }

  // The drawing of a net whose input x has 4 channels.
  std::string Svg(const std::string& text, const NetDrawingOptions& options = {}) {
    const NetDef net = ParseNet(text);
    return NetAsSvg(
        net,
        SummarizeNet(
            {}, net,
            {{"x", Floats({1, 4, 8, 8})}, {"w", Floats({8, 1, 3, 3})}, {"b", Floats({8})}}),
        options);
  }
  std::string Dot(const std::string& text, const NetDrawingOptions& options = {}) {
    const NetDef net = ParseNet(text);
    return NetAsDot(net, SummarizeNet({}, net, {}), options);
  }
};

TEST_F(NetDrawingTest, ShowsArgumentsShapesInputsAndOutputsButNoWeights) {
  const std::string svg = Svg(kNet);
  EXPECT_THAT(svg, AllOf(HasSubstr(">Conv</text>"), HasSubstr("stride 2, pad 1, group 4</text>"),
                         HasSubstr(">float [1, 8, 4, 4]</text>"),
                         HasSubstr(">input: float [1, 4, 8, 8]</text>"), HasSubstr(">output")));
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"node conv\""), HasSubstr("class=\"node act\""),
                         HasSubstr("class=\"node elem\""), HasSubstr("class=\"node input\""),
                         HasSubstr("class=\"node output\""), HasSubstr(">convolution</text>")));
  EXPECT_THAT(svg, Not(HasSubstr(">w</text>")));
  EXPECT_EQ(BoxesOfSvg(svg).size(), 5u);
}

// The color of an operator is that of its family, which the type's name decides for users' operators.
TEST_F(NetDrawingTest, ColorsFamilies) {
  const std::pair<const char*, const char*> cases[] = {
      {"Conv", "conv"},        {"Int8Conv", "conv"},   {"ConvTransposeGradient", "conv"},
      {"Convert", "other"},    {"MyConvert", "other"}, {"MyConv", "conv"},
      {"MaxPool", "pool"},     {"RoIAlign", "pool"},   {"LRN", "norm"},
      {"MyLayerNorm", "norm"}, {"Sigmoid", "act"},     {"Sum", "elem"},
      {"Reshape", "shape"},    {"FC", "matmul"},       {"SquaredL2Distance", "loss"},
      {"XavierFill", "data"},  {"MyOperator", "other"}};
  for (const auto& [type, css] : cases) {
    EXPECT_THAT(Svg(MakeString("op { type: \"", type, "\" input: \"x\" output: \"y\" }")),
                HasSubstr(MakeString("class=\"node ", css, "\"")))
        << type;
  }
}

TEST_F(NetDrawingTest, MarksSkipConnections) {
  // From Conv to Sum, around Relu.
  const std::string svg = Svg(kNet);
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"edge skip0\""), HasSubstr("marker-end=\"url(#flow)\""),
                         Not(HasSubstr("class=\"edge skip1\""))));
}

TEST_F(NetDrawingTest, ShowsTheTargetTypeOfCast) {
  const std::string svg = Svg(R"(external_input: "x"
      op { type: "Cast" input: "x" output: "y" arg { name: "to" i: 10 } }
      op { type: "Cast" input: "x" output: "z" arg { name: "to" i: 999 } })");
  EXPECT_THAT(svg, AllOf(HasSubstr(">to int64</text>"), HasSubstr(">to 999</text>")));
}

TEST_F(NetDrawingTest, SeparatesWeightsFromInputs) {
  // Both inputs of Add are inputs, unless the second one is known to be a weight, or is applied to
  // channels.
  const std::string add = R"(op { type: "Add" input: "x" input: "v" output: "y" )";
  EXPECT_EQ(BoxesOfSvg(Svg(add + "}")).size(), 4u);
  EXPECT_EQ(BoxesOfSvg(Svg(add + "}", {.parameters = {"v"}})).size(), 3u);
  // An init net that fills both fills the data with a placeholder.
  EXPECT_THAT(Svg(add + "}", {.parameters = {"x", "v"}}), HasSubstr(">x</text>"));
  EXPECT_EQ(
      BoxesOfSvg(Svg(add + R"(arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 } })")).size(),
      3u);
}

// Where nothing names the weights, the name of the type decides.
TEST_F(NetDrawingTest, SeparatesWeightsByTheNameOfTheType) {
  const std::pair<const char*, size_t> cases[] = {
      {"PRelu", 3},       {"MyPRelu", 3},   {"MyFC", 3},   {"MyLSTM", 3},
      {"MyGRU", 3},       {"MyLinear", 3},  {"MyConv", 3}, {"MyRecurrentNet", 3},
      {"MyLayerNorm", 3}, {"MyRelu", 4},    {"MyPool", 4}, {"MySparseLengthsSum", 3},
      {"Int8FC", 3},      {"MyOperator", 4}};
  for (const auto& [type, boxes] : cases) {
    const std::string op =
        MakeString("op { type: \"", type, "\" input: \"x\" input: \"w\" output: \"y\" }");
    EXPECT_EQ(BoxesOfSvg(Svg(op)).size(), boxes) << type;
  }
}

TEST_F(NetDrawingTest, TheLegendOfManyFamiliesIsReadable) {
  std::string net;
  for (const char* type : {"Conv", "MaxPool", "LRN", "Sigmoid", "Sum", "Reshape", "FC",
                           "SquaredL2Distance", "MyOperator"}) {
    net += MakeString("op { type: \"", type, "\" input: \"x\" output: \"x\" }");
  }
  const std::string svg = Svg(net);
  ExpectReadable(svg);
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"swatch conv\""), HasSubstr("class=\"swatch loss\""),
                         HasSubstr("class=\"swatch other\"")));
}

TEST_F(NetDrawingTest, FoldsRepeatedBlocksButNoInputsOrOutputs) {
  std::string net;
  for (int i = 0; i < 4; ++i) {
    net += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"s", i,
                      "\" } op { type: \"Tanh\" input: \"s", i, "\" output: \"h", i + 1, "\" }");
  }
  net += R"(external_output: "h4" external_output: "s2")";
  const std::string all = Svg(net), folded = Svg(net, {.fold = true});
  EXPECT_EQ(BoxesOfSvg(all).size(), 8u + 5 + 2);
  EXPECT_EQ(BoxesOfSvg(folded).size(), 2u + 5 + 2);
  EXPECT_THAT(folded, AllOf(HasSubstr("\xC3\x97 4</text>"), HasSubstr("carried")));
  for (const char* name : {"h0", "x0", "x1", "x2", "x3", "h4", "s2"})
    EXPECT_THAT(folded, HasSubstr(MakeString(">", name, "</text>")));
}

TEST_F(NetDrawingTest, JoinsManyInputsOfAFoldedBlock) {
  std::string net;
  for (int i = 0; i < 9; ++i) {
    net += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"h",
                      i + 1, "\" }");
  }
  // h0, nine x, the output, and one operator
  EXPECT_EQ(BoxesOfSvg(Svg(net)).size(), 1u + 9 + 1 + 9);
  const std::string folded = Svg(net, {.fold = true});
  EXPECT_THAT(folded, AllOf(HasSubstr(">9 inputs</text>"), HasSubstr("+ 6 more</text>"),
                            HasSubstr("<title>x0, x1, x2, x3, x4, x5, x6, x7 and 1 more")));
}

TEST_F(NetDrawingTest, ShowsHowShapesChangeInFoldedBlocks) {
  std::string net;
  for (int i = 0; i < 4; ++i) {
    net += MakeString("op { type: \"MaxPool\" input: \"", i == 0 ? "x" : MakeString("p", i - 1),
                      "\" output: \"p", i, "\" arg { name: \"kernel\" i: 2 } }");
  }
  EXPECT_THAT(Svg(net, {.fold = true}), HasSubstr("float [1, 4, 7\xE2\x80\xA6"
                                                  "4, 7\xE2\x80\xA6"
                                                  "4]"));
}

TEST_F(NetDrawingTest, ShortensNoShapesInFoldedBlocks) {
  std::string net;
  for (int i = 0; i < 4; ++i) {
    net += MakeString("op { type: \"Concat\" input: \"", i == 0 ? "x" : MakeString("joined", i - 1),
                      "\" input: \"x\" output: \"joined", i,
                      "\" output: \"the_sizes_of_the_inputs_before_they_were_joined_in_step_", i,
                      "\" arg { name: \"axis\" i: 2 } }");
  }
  const std::string folded = Svg(net, {.fold = true});
  EXPECT_THAT(folded, AllOf(HasSubstr("joined0: float [1, 4, "), HasSubstr("int32 [2]"),
                            Not(HasSubstr("\xE2\x80\xA6\xE2\x80\xA6"))));
}

TEST_F(NetDrawingTest, DrawsFillsOfWeightsAsOneNode) {
  std::string net;
  for (int i = 0; i < 50; ++i)
    net += MakeString("op { type: \"XavierFill\" output: \"w", i, "\" }");
  const std::string svg = Svg(net);
  EXPECT_EQ(BoxesOfSvg(svg).size(), 2u);
  EXPECT_THAT(svg, AllOf(HasSubstr("\xC3\x97 50</text>"), HasSubstr(">50 outputs</text>")));
}

TEST_F(NetDrawingTest, DrawsTheBackwardPassOnTheRight) {
  const std::string net = R"(
      op { type: "Relu" input: "x" output: "y" }
      op { type: "ConstantFill" input: "y" output: "y_autogen_grad" }
      op { type: "Test" input: "y" input: "y_autogen_grad" output: "g" is_gradient_op: true }
      op { type: "Copy" input: "g" output: "h" })";
  const std::vector<SvgBox> boxes = BoxesOfSvg(Svg(net));
  ASSERT_EQ(boxes.size(), 6u);  // Relu, x, ConstantFill, Test, Copy, h
  for (const int forward : {0, 1}) {
    for (const int backward : {2, 3, 4})
      EXPECT_LT(boxes[forward].x + boxes[forward].width, boxes[backward].x);
  }
  EXPECT_LT(boxes[2].y, boxes[3].y);
  EXPECT_LT(boxes[3].y, boxes[4].y);
  const std::string dot = Dot(net);
  EXPECT_THAT(dot, HasSubstr("label=\"backward pass\""));
  EXPECT_THAT(Dot(kNet), Not(HasSubstr("cluster")));
}

// A net that is given the gradients of its outputs.
TEST_F(NetDrawingTest, GradientOperatorsAreABackwardPassWhateverTheyRead) {
  const std::string net = R"(op { type: "Relu" input: "x" output: "y" }
      op { type: "ReluGradient" input: "y" input: "dy" output: "dx" )";
  EXPECT_THAT(Dot(net + "is_gradient_op: true }"), HasSubstr("label=\"backward pass\""));
  EXPECT_THAT(Dot(net + "}"), Not(HasSubstr("label=\"backward pass\"")));
}

TEST_F(NetDrawingTest, ConnectsTheNetsOfAPlan) {
  const NetDef init = ParseNet(R"(
      op { type: "XavierFill" output: "w" } op { type: "XavierFill" output: "b" }
      op { type: "CreateDB" output: "reader" })");
  const NetDef train = ParseNet(R"(
      op { type: "TensorProtosDBInput" input: "reader" output: "x" }
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" })");
  const NetSummary a = SummarizeNet({}, init, {}), b = SummarizeNet({}, train, {});
  const NetDrawing drawing({{&init, &a, "first"}, {&train, &b, "second"}}, {.title = "the plan"});
  const std::string dot = drawing.Dot();
  EXPECT_THAT(dot, AllOf(HasSubstr("label=\"first\""), HasSubstr("label=\"second\""),
                         HasSubstr("label=\"reader\""), HasSubstr("label=\"w, b\"")));
  const std::string svg = drawing.Svg(drawing.PlainLayout());
  EXPECT_THAT(svg, AllOf(HasSubstr(">first</text>"), HasSubstr(">second</text>"),
                         HasSubstr("class=\"edge weights\"")));
  // XavierFill, CreateDB, TensorProtosDBInput, FC, and the output: no blob becomes an input.
  EXPECT_EQ(BoxesOfSvg(svg).size(), 5u);
  ExpectReadable(svg);
}

TEST_F(NetDrawingTest, PlainLayoutsOverlapNothing) {
  for (const bool fold : {false, true}) {
    std::string net = kNet;
    for (int i = 0; i < 30; ++i) {
      net += MakeString("op { type: \"Sum\" input: \"", i == 0 ? "y" : MakeString("s", i - 1),
                        "\" input: \"c\" output: \"s", i, "\" }");
    }
    ExpectReadable(Svg(net, {.fold = fold}));
  }
}

TEST_F(NetDrawingTest, EscapesHostileNames) {
  const std::string hostile =
      R"(name: "\"><script>alert(1)</script>" op { type: "</title><script>" name: "</script><b>"
         input: "&\001\377\\" output: "]]>'\n\"];}" arg { name: "<i>" s: "</script>" } })";
  const NetDef net = ParseNet(hostile);
  const NetSummary summary = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&net, &summary, net.name()}}, {});
  const std::string svg = drawing.Svg(drawing.PlainLayout());
  EXPECT_THAT(svg, AllOf(HasSubstr("&lt;/title&gt;&lt;script&gt;"), HasSubstr("&amp;??\\"),
                         Not(HasSubstr("<script>")), Not(HasSubstr("<i>"))));
  const std::string page = drawing.Html(drawing.PlainLayout());
  // The page's own two scripts end, and nothing else does.
  size_t ends = 0;
  for (size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<b>")),
                          HasSubstr("\\u003c/script\\u003e\\u003cb\\u003e")));
  EXPECT_THAT(drawing.Dot(), AllOf(HasSubstr("digraph \"\\\"><script>alert(1)</script>\" {"),
                                   HasSubstr("&??\\\\"), HasSubstr("]]>'?\\\"];}")));
  // Graphviz sees no text of the net.
  for (const char* part : {"script", "alert", "&", "]]", "'"})
    EXPECT_THAT(drawing.DotRequest(), Not(HasSubstr(part)));
}

TEST_F(NetDrawingTest, RejectsWhatIsNotALayout) {
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&net, &summary, "n"}}, {});
  // Relu, x, y
  const std::string nodes = "node n0 1 3 1 1 \"\"\nnode n1 1 2 1 1 \"\"\nnode n2 1 1 1 1 \"\"\n";
  const std::string edges =
      "edge n1 n0 4 1 2.5 1 2.4 1 2.3 1 2.2 solid\n"
      "edge n0 n2 4 1 1.5 1 1.4 1 1.3 1 1.2 solid\n";
  const std::string head = "graph 1 2 4\n";
  const NetDrawingLayout layout = drawing.ReadDotLayout(head + nodes + edges + "stop\n");
  EXPECT_EQ(layout.height, 4 * 72);
  ASSERT_EQ(layout.nodes.size(), 3u);
  EXPECT_EQ(layout.nodes[1].y + layout.nodes[1].height / 2, 2 * 72);
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"", "no line \"stop\""},
           {head + nodes + edges, "no line \"stop\""},
           {head + edges + "stop\n", "lacks a node"},
           {head + nodes + "stop\n", "lacks an edge"},
           {head + nodes + edges + "edge n1 n0 4 1 1 1 1 1 1 1 1\nstop\n", "an edge too many"},
           {head + "node n7 1 1 1 1\nstop\n", "want the name of a node"},
           {head + "node n0 nan 1 1 1\nstop\n", "want a number of inches"},
           {head + "node n0 1e300 1 1 1\nstop\n", "want a number of inches"},
           {head + "edge n1 n0 1000000 1 1\nstop\n", "want 4, 7, 10"},
           {head + "node n0\nstop\n", "words of a line"}}) {
    ExpectThrows([&] { drawing.ReadDotLayout(row.first); }, row.second);
  }
}

TEST_F(NetDrawingTest, RejectsNetsTooLargeToDraw) {
  NetDef net;
  net.set_name("wide");
  net.add_op()->set_type("Sum");
  for (int i = 0; i < 150000; ++i) net.mutable_op(0)->add_input(MakeString("x", i));
  net.mutable_op(0)->add_output("y");
  const NetSummary summary = SummarizeNet({}, net, {});
  ExpectThrows([&] { NetAsDot(net, summary); }, "nodes and arrows of the drawing of net \"wide\"");
  ExpectThrows([&] { Svg(kNet, {.max_svg_ops = 1}); }, "operators of net \"n\"");
}

}  // namespace
}  // namespace caffe2rt::test::net_drawing_test
