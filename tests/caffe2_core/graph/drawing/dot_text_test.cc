// Drawings as whole DOT texts, written by hand from net_drawing.h and drawing/flow_graph.h, and the
// whole text that Graphviz lays out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::dot_text_test {
namespace {

constexpr char kHead[] = " {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

class DotTextTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }

  // The lines of the drawing of one net between its head and its end.
  static std::string Dot(const std::string& text, const NetDrawingOptions& options = {},
                         const ShapeMap& shapes = {}) {
    const NetDef net = ParseNet(text);
    const NetSummary summary = SummarizeNet({}, net, shapes);
    const std::string dot = NetDrawing({{&net, &summary, "n"}}, options).Dot();
    const std::string head =
        MakeString("digraph \"", options.title.empty() ? "n" : options.title, "\"", kHead);
    EXPECT_EQ(dot.substr(0, head.size()), head);
    EXPECT_EQ(dot.substr(dot.size() - 2), "}\n");
    return dot.substr(head.size(), dot.size() - head.size() - 2);
  }
};

// Titles, details and lines may hold what Graphviz reads as the end of a text or as another line.
TEST_F(DotTextTest, EscapesNamesWhereverTheyStand) {
  const std::string dot = Dot(R"(external_output: "p\"q" external_output: "r\\s"
      op { type: "Split" input: "x\"" output: "p\"q" output: "r\\s" })");
  for (const char* want : {
           R"(n0 [label="Split\np\"q\nr\\s", )",
           R"(n1 [label="x\"\ninput", )",
           R"(n2 [label="2 outputs\np\"q\nr\\s", )",
           R"(n1 -> n0 [label="x\""];)",
           R"(n0 -> n2 [label="p\"q, r\\s"];)",
       }) {
    EXPECT_NE(dot.find(want), std::string::npos) << want << " in\n" << dot;
  }
}

// Nodes are the operators, each with its inputs before it in the list of those that are read first,
// then the outputs.
TEST_F(DotTextTest, OfANetWithInputsOutputsAndASkip) {
  EXPECT_EQ(Dot(R"(external_output: "y"
      op { type: "Conv" input: "x" input: "w" output: "c" arg { name: "kernel" i: 3 }
           arg { name: "pad" i: 1 } arg { name: "stride" i: 1 } }
      op { type: "Relu" input: "c" output: "r" }
      op { type: "Sum" input: "r" input: "c" output: "y" })",
                {.title = "all"}, {{"x", Floats({1, 2, 4, 4})}, {"w", Floats({5, 2, 3, 3})}}),
            R"(  n0 [label="Conv  3)"
            "\xC3\x97"
            R"(3, pad 1\nc\nfloat [1, 5, 4, 4]", fillcolor="#dce8f6"];
  n1 [label="x\ninput: float [1, 2, 4, 4]", shape=ellipse, fillcolor=white];
  n2 [label="Relu\nr\nfloat [1, 5, 4, 4]", fillcolor="#fbe1d7"];
  n3 [label="Sum\ny\nfloat [1, 5, 4, 4]", fillcolor="#ffe8ec"];
  n4 [label="y\noutput: float [1, 5, 4, 4]", shape=ellipse, fillcolor=white];
  n1 -> n0 [label="x"];
  n0 -> n2 [label="c"];
  n2 -> n3 [label="r"];
  n0 -> n3 [label="c"];
  n3 -> n4 [label="y"];
)");
}

TEST_F(DotTextTest, OfControlInputsAndSeveralBlobs) {
  // The control input of the second operator leads back to the first; one to a later operator, or
  // to a blob that nobody writes, is not drawn. Blobs between the same operators share an arrow.
  EXPECT_EQ(Dot(R"(external_output: "d"
      op { type: "Split" input: "x" output: "a" output: "b" }
      op { type: "Copy" input: "z" output: "c" control_input: "a" control_input: "d"
           control_input: "nobody" }
      op { type: "Add" input: "a" input: "b" output: "d" control_input: "c" })"),
            R"(  n0 [label="Split\na\nb", fillcolor="#f0f0f0"];
  n1 [label="x\ninput", shape=ellipse, fillcolor=white];
  n2 [label="Copy\nc", fillcolor="#ffe8ec"];
  n3 [label="z\ninput", shape=ellipse, fillcolor=white];
  n4 [label="Add\nd", fillcolor="#ffe8ec"];
  n5 [label="d\noutput", shape=ellipse, fillcolor=white];
  n1 -> n0 [label="x"];
  n3 -> n2 [label="z"];
  n0 -> n2 [label="a", style=dotted];
  n0 -> n4 [label="a, b"];
  n2 -> n4 [label="c", style=dotted];
  n4 -> n5 [label="d"];
)");
}

TEST_F(DotTextTest, OfManyOutputsAndManyBlobs) {
  std::string split = R"(op { type: "Split" input: "x" )", sum = R"(op { type: "Sum" )";
  for (int i = 0; i < 10; ++i) {
    split += MakeString("output: \"s", i, "\" ");
    sum += MakeString("input: \"s", i, "\" ");
  }
  EXPECT_EQ(Dot(split + "} " + sum + R"(output: "y" }
      op { type: "Split" input: "y" output: "a" output: "b" output: "c" output: "d" output: "e" })"),
            R"(  n0 [label="Split\ns0\ns1\ns2\n+ 7 more", fillcolor="#f0f0f0"];
  n1 [label="x\ninput", shape=ellipse, fillcolor=white];
  n2 [label="Sum\ny", fillcolor="#ffe8ec"];
  n3 [label="Split\na\nb\nc\n+ 2 more", fillcolor="#f0f0f0"];
  n4 [label="5 outputs\na\nb\nc\n+ 2 more", shape=ellipse, fillcolor=white];
  n1 -> n0 [label="x"];
  n0 -> n2 [label="s0, s1, s2, s3, s4, s5, s6, s7 and 2 more"];
  n2 -> n3 [label="y"];
  n3 -> n4 [label="a, b, c, d, e"];
)");
  EXPECT_EQ(
      Dot(R"(op { type: "Split" input: "x" output: "a" output: "b" output: "c" output: "d" })"),
      R"(  n0 [label="Split\na\nb\nc\nd", fillcolor="#f0f0f0"];
  n1 [label="x\ninput", shape=ellipse, fillcolor=white];
  n2 [label="4 outputs\na\nb\nc\nd", shape=ellipse, fillcolor=white];
  n1 -> n0 [label="x"];
  n0 -> n2 [label="a, b, c, d"];
)");
}

// The four steps share one node of each kind: what they pass on is dashed, inputs are five nodes or
// one, and the output of a step that is an output of the net has its own node.
TEST_F(DotTextTest, OfAFoldedBlock) {
  std::string net = R"(external_output: "h4" external_output: "s2" )";
  for (int i = 0; i < 4; ++i) {
    net += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"s", i,
                      "\" } op { type: \"Tanh\" input: \"s", i, "\" output: \"h", i + 1, "\" } ");
  }
  EXPECT_EQ(Dot(net, {.fold = true}),
            "  n1 [label=\"h0\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n2 [label=\"x0\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n4 [label=\"x1\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n5 [label=\"x2\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n6 [label=\"x3\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n7 [label=\"s2\\noutput\", shape=ellipse, fillcolor=white];\n"
            "  n8 [label=\"h4\\noutput\", shape=ellipse, fillcolor=white];\n"
            "subgraph cluster_1 {\n"
            "  label=\"\xC3\x97 4\";\n"
            "  n0 [label=\"Add\\ns0\", fillcolor=\"#ffe8ec\"];\n"
            "  n3 [label=\"Tanh\\nh1\", fillcolor=\"#fbe1d7\"];\n"
            "}\n"
            "  n1 -> n0 [label=\"h0\"];\n"
            "  n2 -> n0 [label=\"x0\"];\n"
            "  n0 -> n3 [label=\"s0, s1, s2, s3\"];\n"
            "  n3 -> n0 [label=\"h1, h2, h3\", style=dashed, constraint=false];\n"
            "  n4 -> n0 [label=\"x1\"];\n"
            "  n5 -> n0 [label=\"x2\"];\n"
            "  n6 -> n0 [label=\"x3\"];\n"
            "  n0 -> n7 [label=\"s2\"];\n"
            "  n3 -> n8 [label=\"h4\"];\n");
}

TEST_F(DotTextTest, OfAFoldedBlockWithManyInputs) {
  std::string net;
  for (int i = 0; i < 5; ++i) {
    net += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"h",
                      i + 1, "\" } ");
  }
  // h0 is read as the first input, so that it stays apart from the five others.
  EXPECT_EQ(Dot(net, {.fold = true}),
            "  n1 [label=\"h0\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n2 [label=\"5 inputs\\nx0\\nx1\\nx2\\n+ 2 more\", shape=ellipse, fillcolor=white];\n"
            "  n3 [label=\"h5\\noutput\", shape=ellipse, fillcolor=white];\n"
            "subgraph cluster_1 {\n"
            "  label=\"\xC3\x97 5\";\n"
            "  n0 [label=\"Add\\nh1\", fillcolor=\"#ffe8ec\"];\n"
            "}\n"
            "  n1 -> n0 [label=\"h0\"];\n"
            "  n2 -> n0 [label=\"x0, x1, x2, x3, x4\"];\n"
            "  n0 -> n0 [label=\"h1, h2, h3, h4\", style=dashed, constraint=false];\n"
            "  n0 -> n3 [label=\"h5\"];\n");
}

TEST_F(DotTextTest, OfABackwardPass) {
  EXPECT_EQ(Dot(R"(external_input: "x" external_output: "dx"
      op { type: "Tanh" input: "x" output: "y" }
      op { type: "ConstantFill" input: "y" output: "y_autogen_grad"
           arg { name: "value" f: 1 } }
      op { type: "TanhGradient" input: "y" input: "y_autogen_grad" output: "dx"
           is_gradient_op: true })"),
            "  n0 [label=\"Tanh\\ny\", fillcolor=\"#fbe1d7\"];\n"
            "  n1 [label=\"x\\ninput\", shape=ellipse, fillcolor=white];\n"
            "  n4 [label=\"dx\\noutput\", shape=ellipse, fillcolor=white];\n"
            "subgraph cluster_1 {\n"
            "  label=\"backward pass\";\n"
            "  n2 [label=\"ConstantFill  value 1\\ny_autogen_grad\", fillcolor=\"#f1f4d3\"];\n"
            "  n3 [label=\"TanhGradient\\ndx\", fillcolor=\"#fbe1d7\"];\n"
            "}\n"
            "  n1 -> n0 [label=\"x\"];\n"
            "  n0 -> n2 [label=\"y\"];\n"
            "  n0 -> n3 [label=\"y\"];\n"
            "  n2 -> n3 [label=\"y_autogen_grad\"];\n"
            "  n3 -> n4 [label=\"dx\"];\n");
}

// A net of weights, one that trains with them and updates one in place, and one that reads what the
// first of them has left.
TEST_F(DotTextTest, OfThePlanOfThreeNets) {
  const NetDef init = ParseNet(R"(
      op { type: "XavierFill" output: "w" arg { name: "shape" ints: 3 } }
      op { type: "XavierFill" output: "v" arg { name: "shape" ints: 4 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } }
      op { type: "CreateDB" output: "reader" })");
  const NetDef train = ParseNet(R"(
      op { type: "TensorProtosDBInput" input: "reader" output: "x" output: "label" }
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
      op { type: "Copy" input: "end" output: "z" })");
  const NetDef test = ParseNet(R"(op { type: "Tanh" input: "y" output: "end" })");
  const NetSummary a = SummarizeNet({}, init, {}), b = SummarizeNet({}, train, {}),
                   c = SummarizeNet({}, test, {});
  const NetDrawing drawing({{&init, &a, "first"}, {&train, &b, "second"}, {&test, &c, "third"}},
                           {.title = "the \"plan\""});
  EXPECT_EQ(drawing.Dot(),
            std::string("digraph \"the \\\"plan\\\"\"") + kHead +
                "subgraph cluster_0 {\n"
                "  label=\"first\";\n"
                "  n0 [label=\"XavierFill  \xC3\x97 2\\nw\\nv\", fillcolor=\"#f1f4d3\"];\n"
                "  n1 [label=\"ConstantFill  shape [2]\\nb\\nfloat [2]\", fillcolor=\"#f1f4d3\"];\n"
                "  n2 [label=\"CreateDB\\nreader\", fillcolor=\"#f1f4d3\"];\n"
                "  n7 [label=\"v\\noutput: float [4]\", shape=ellipse, fillcolor=white];\n"
                "}\n"
                "subgraph cluster_1 {\n"
                "  label=\"second\";\n"
                "  n3 [label=\"TensorProtosDBInput\\nx\\nlabel\", fillcolor=\"#f1f4d3\"];\n"
                "  n4 [label=\"FC\\ny\", fillcolor=\"#cfeee6\"];\n"
                "  n5 [label=\"Copy\\nz\", fillcolor=\"#ffe8ec\"];\n"
                "  n8 [label=\"label\\noutput\", shape=ellipse, fillcolor=white];\n"
                "  n9 [label=\"z\\noutput\", shape=ellipse, fillcolor=white];\n"
                "}\n"
                "subgraph cluster_2 {\n"
                "  label=\"third\";\n"
                "  n6 [label=\"Tanh\\nend\", fillcolor=\"#fbe1d7\"];\n"
                "}\n"
                "  n2 -> n3 [label=\"reader\"];\n"
                "  n3 -> n4 [label=\"x\"];\n"
                "  n0 -> n4 [label=\"w\"];\n"
                "  n1 -> n4 [label=\"b\"];\n"
                "  n4 -> n6 [label=\"y\"];\n"
                "  n6 -> n5 [label=\"end\", style=dashed, constraint=false];\n"
                "  n0 -> n7 [label=\"v\"];\n"
                "  n3 -> n8 [label=\"label\"];\n"
                "  n5 -> n9 [label=\"z\"];\n"
                "}\n");
}

// What Graphviz lays out, without the sizes of the boxes. Invisible nodes keep the nets in order: the
// last nodes of a net are above them, the first nodes of the next net below.
std::string RequestOf(const NetDrawing& drawing) {
  std::string request = drawing.DotRequest();
  for (size_t at = 0; (at = request.find("width=", at)) != std::string::npos;) {
    const size_t end = request.find("];", at);
    if (request.compare(at, 10, "width=0.1,") == 0) {
      at = end;
    } else {
      request.erase(at, end - at);
    }
  }
  const std::string head =
      "digraph {\ngraph [nodesep=0.35, ranksep=0.42];\nnode [shape=box, fixedsize=true, "
      "label=\"\"];\n"
      "edge [dir=none];\n";
  EXPECT_EQ(request.substr(0, head.size()), head);
  return request.substr(head.size());
}

TEST_F(DotTextTest, AsksForALayoutOfNetsInTheirOrder) {
  const NetDef init =
      ParseNet(R"(op { type: "XavierFill" output: "w" } op { type: "CreateDB" output: "r" })");
  const NetDef train = ParseNet(R"(external_output: "z"
      op { type: "TensorProtosDBInput" input: "r" output: "x" }
      op { type: "FC" input: "x" input: "w" output: "y" }
      op { type: "Sum" input: "y" input: "x" output: "z" } op { type: "Copy" input: "end" output: "q" })");
  const NetDef test = ParseNet(R"(op { type: "Tanh" input: "y" output: "end" })");
  const NetSummary a = SummarizeNet({}, init, {}), b = SummarizeNet({}, train, {}),
                   c = SummarizeNet({}, test, {});
  EXPECT_EQ(RequestOf(NetDrawing({{&init, &a, "a"}, {&train, &b, "b"}, {&test, &c, "c"}}, {})),
            R"(subgraph cluster_0 {
margin=24;
n0 [];
n1 [];
}
subgraph cluster_1 {
margin=24;
n2 [];
n3 [];
n4 [];
n5 [];
n7 [];
}
subgraph cluster_2 {
margin=24;
n6 [];
}
n1 -> n2 [weight=4];
n2 -> n3 [weight=4];
n0 -> n3 [weight=4];
n3 -> n4 [weight=4];
n2 -> n4 [weight=1];
n3 -> n6 [weight=4];
n6 -> n5 [weight=4, constraint=false];
n4 -> n7 [weight=4];
o0 [style=invis, width=0.1, height=0.1];
o1 [style=invis, width=0.1, height=0.1];
n0 -> o0 [style=invis];
n1 -> o0 [style=invis];
o0 -> n2 [style=invis];
n5 -> o1 [style=invis];
o0 -> n5 [style=invis];
o1 -> n6 [style=invis];
n7 -> o1 [style=invis];
o0 -> o1 [style=invis];
}
)");
}

TEST_F(DotTextTest, AsksForALayoutOfABlock) {
  std::string net;
  for (int i = 0; i < 4; ++i) {
    net += MakeString("op { type: \"Add\" input: \"h", i, "\" input: \"x", i, "\" output: \"s", i,
                      "\" } op { type: \"Tanh\" input: \"s", i, "\" output: \"h", i + 1, "\" } ");
  }
  const NetDef def = ParseNet(net);
  const NetSummary summary = SummarizeNet({}, def, {});
  EXPECT_EQ(RequestOf(NetDrawing({{&def, &summary, "n"}}, {.fold = true})), R"(n1 [];
n2 [];
n4 [];
n5 [];
n6 [];
n7 [];
subgraph cluster_1 {
margin=24;
n0 [];
n3 [];
}
n1 -> n0 [weight=4];
n2 -> n0 [weight=4];
n0 -> n3 [weight=4];
n3 -> n0 [weight=4, constraint=false];
n4 -> n0 [weight=4];
n5 -> n0 [weight=4];
n6 -> n0 [weight=4];
n3 -> n7 [weight=4];
}
)");
}

// The most important arguments of an operator, after its type.
TEST_F(DotTextTest, OfArguments) {
  const auto detail = [](const std::string& type, const std::string& args) {
    const std::string dot =
        Dot("op { type: \"" + type + "\" input: \"x\" output: \"y\" " + args + " }");
    const std::string begin = "  n0 [label=\"" + type;
    EXPECT_EQ(dot.substr(0, begin.size()), begin);
    const std::string rest = dot.substr(begin.size());
    return rest.substr(0, rest.find("\\n"));
  };
  const auto i = [](const std::string& name, int64_t value) {
    return MakeString("arg { name: \"", name, "\" i: ", value, " } ");
  };
  const std::string times = "\xC3\x97";
  EXPECT_EQ(detail("MaxPool", i("kernel", 3) + i("stride", 2)), "  3" + times + "3, stride 2");
  EXPECT_EQ(
      detail("MaxPool", i("kernel_h", 3) + i("kernel_w", 5) + i("stride_h", 1) + i("stride_w", 2)),
      "  3" + times + "5, stride 1/2");
  EXPECT_EQ(detail("MaxPool", i("kernel_h", 3)), "  kernel_h 3");
  EXPECT_EQ(
      detail("MaxPool", "arg { name: \"kernels\" ints: 1 ints: 2 ints: 3 } " + i("stride", 1)),
      "  1" + times + "2" + times + "3");
  EXPECT_EQ(detail("AveragePool", i("global_pooling", 1)), "  global");
  EXPECT_EQ(detail("Conv", i("kernel", 1) + i("pad_t", 1) + i("pad_r", 2)),
            "  1" + times + "1, pad 1/0/0/2");
  EXPECT_EQ(detail("Conv",
                   i("kernel", 1) + i("pad_t", 3) + i("pad_l", 3) + i("pad_b", 3) + i("pad_r", 3)),
            "  1" + times + "1, pad 3");
  EXPECT_EQ(detail("Conv", i("kernel", 2) + i("pad", 0) + i("dilation", 1) + i("group", 1)),
            "  2" + times + "2");
  EXPECT_EQ(detail("Conv", i("kernel", 2) + i("dilation", 3) + i("group", 4)),
            "  2" + times + "2, dilation 3, group 4");
  EXPECT_EQ(detail("Concat", i("axis", 2) + i("add_axis", 0) + i("order", 1)), "  axis 2");
  EXPECT_EQ(detail("Cast", i("to", 10)), "  to int64");
  EXPECT_EQ(detail("MyType", "arg { name: \"s\" s: \"text\" } arg { name: \"f\" f: 0.5 } " +
                                 i("broadcast", 1)),
            "  s \\\"text\\\", f 0.5");
  EXPECT_EQ(detail("MyType", "arg { name: \"n\" n { op { } op { } } } arg { name: \"e\" }"),
            "  e []");
  EXPECT_EQ(detail("MyType",
                   "arg { name: \"l\" ints: 1 ints: 2 } arg { name: \"g\" floats: 1.5 } "
                   "arg { name: \"t\" strings: \"a\" strings: \"b\" }"),
            "  l [1, 2], g [1.5], t [\\\"a\\\", \\\"b\\\"]");
  // An element of a list is left out where the text before it and it have more than 24 bytes, an argument where all of
  // them would not fit into 60.
  EXPECT_EQ(
      detail("MyType", "arg { name: \"l\" ints: 1111111 ints: 2222222 ints: 3333333 ints: 4 }"),
      "  l [1111111, 2222222, 3333333\xE2\x80\xA6, 4 values]");
  EXPECT_EQ(detail("MyType", i("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1) +
                                 i("long_name", 1) + i("b", 2)),
            "  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1, b 2");
}

TEST_F(DotTextTest, RejectsNothingToDraw) {
  const NetDef net = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })");
  const NetSummary summary = SummarizeNet({}, net, {}), empty;
  const NetDrawing drawing({{&net, &summary, "n"}}, {});
  NetDrawingLayout other = drawing.PlainLayout();
  other.edges.pop_back();
  test::ExpectRefusals({
      {[] { const NetDrawing nothing({}, {}); }, "a drawing has no net"},
      {[&] {
         const NetDrawing none({{nullptr, &summary, "n"}}, {});
       },
       "a net to draw, or its summary, is null"},
      {[&] {
         const NetDrawing none({{&net, nullptr, "n"}}, {});
       },
       "a net to draw, or its summary, is null"},
      {[&] {
         const NetDrawing none({{&net, &empty, "n"}}, {});
       },
       "operators in the summary of net \"n\": got 0, want 1"},
      {[&] {
         const NetDrawing many({{&net, &summary, "n"}}, {.max_svg_ops = 0});
       },
       "operators of net \"n\" to draw: got 1, want at most 0"},
      {[&] { drawing.Svg(other); }, "the layout belongs to another drawing"},
      {[&] { drawing.Svg({}); }, "the layout belongs to another drawing"},
      {[&] { drawing.ReadDotLayout("graph 1 2\nstop\n"); },
       "words of the layout's line \"graph\": got 3, want at least 4"},
      {[&] { drawing.ReadDotLayout("node n0 1 2 3\nstop\n"); },
       "words of a line \"node\" of the layout: got 5, want at least 6"},
      {[&] { drawing.ReadDotLayout("node n3 1 2 3 4\nstop\n"); },
       "layout has \"n3\", want the name of a node"},
      {[&] { drawing.ReadDotLayout("node n 1 2 3 4\nstop\n"); },
       "layout has \"n\", want the name of a node"},
      {[&] { drawing.ReadDotLayout("graph 1 138889 1\nstop\n"); },
       "layout has \"138889\", want a number of inches"},
      {[&] { drawing.ReadDotLayout("edge n1 n0 5 1 1 1 1 1 1 1 1 1 1\nstop\n"); },
       "layout has an edge of \"5\" points, want 4, 7, 10, ..."},
      {[&] { drawing.ReadDotLayout("edge n1 n0 1 1 1 1 1 1 1 1 1\nstop\n"); },
       "layout has an edge of \"1\" points, want 4, 7, 10, ..."},
      {[&] { drawing.ReadDotLayout("edge n1 n0 4 1 1 1 1 1 1 1\nstop\n"); },
       "layout has an edge of \"4\" points, want 4, 7, 10, ..."},
      {[&] { drawing.ReadDotLayout("edge n0 n1 4 1 1 1 1 1 1 1 1\nstop\n"); },
       "layout has an edge too many"},
      {[&] { drawing.ReadDotLayout("graph 1 1 1\nstop\n"); }, "layout lacks a node"},
      {[&] { drawing.ReadDotLayout("stop\ngraph 1 1 1\n"); },
       "layout has no line \"stop\" at its end"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::dot_text_test
