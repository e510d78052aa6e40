#include "caffe2_core/graph/net_summary.h"

#include <gtest/gtest.h>

#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_summary_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

constexpr char kInit[] = R"(
  op { type: "GaussianFill" output: "w" arg { name: "shape" ints: 8 ints: 3 ints: 3 ints: 3 } }
  op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 8 } })";
constexpr char kNet[] = R"(
  name: "n"
  op { type: "Conv" input: "x" input: "w" input: "b" output: "y" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
  op { type: "Relu" input: "y" output: "y" })";

class NetSummaryTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }
  const NetDef init_ = ParseNet(kInit), net_ = ParseNet(kNet);
};

TEST_F(NetSummaryTest, CountsParametersMultiplyAddsAndMemory) {
  const NetSummary summary = SummarizeNet({&init_}, net_, {{"x", Floats({1, 3, 4, 5})}});
  EXPECT_EQ(summary.parameters, 8 * 27 + 8);
  EXPECT_EQ(summary.parameter_bytes, (8 * 27 + 8) * 4);
  EXPECT_EQ(summary.multiply_adds, 8 * 4 * 5 * 27);
  EXPECT_EQ(summary.activation_bytes, 8 * 4 * 5 * 4);  // y is written in place
  EXPECT_EQ(summary.unknown_ops, 0);
}

TEST_F(NetSummaryTest, SaysWhatIsNotKnown) {
  const NetSummary summary = SummarizeNet({}, net_, {});
  EXPECT_EQ(summary.unknown_ops, 2);
  EXPECT_THAT(summary.ops[0].problem, HasSubstr("input \"x\" is not known"));
}

TEST_F(NetSummaryTest, DoesNotOverflowOnAbsurdShapes) {
  const NetDef net = ParseNet(R"(op { type: "Copy" input: "x" output: "y" })");
  const NetSummary summary = SummarizeNet({}, net, {{"x", Floats({INT64_MAX, INT64_MAX, -1})}});
  EXPECT_EQ(ElementsOf(Floats({INT64_MAX, INT64_MAX})), INT64_MAX);
  EXPECT_GE(summary.activation_bytes, 0);
}

TEST_F(NetSummaryTest, CountsMatrixProducts) {
  EXPECT_EQ(MultiplyAdds(ParseOp(R"(type: "FC" input: "x" input: "w" input: "b" output: "y")"),
                         {Floats({2, 5}), Floats({7, 5}), Floats({7})}, {Floats({2, 7})}),
            2 * 7 * 5);
  EXPECT_EQ(
      MultiplyAdds(
          ParseOp(
              R"(type: "MatMul" input: "a" input: "b" output: "y" arg { name: "trans_a" i: 1 })"),
          {Floats({5, 2}), Floats({5, 7})}, {Floats({2, 7})}),
      2 * 7 * 5);
  EXPECT_EQ(MultiplyAdds(ParseOp(R"(type: "ConvTranspose" input: "x" input: "w" output: "y")"),
                         {Floats({1, 4, 3, 3}), Floats({4, 6, 2, 2})}, {Floats({1, 6, 6, 6})}),
            36 * 24);
}

TEST_F(NetSummaryTest, CountsMultiplyAddsOfFusedOperators) {
  EXPECT_EQ(MultiplyAdds(ParseOp(R"(type: "FCFusion" input: "x" input: "w" output: "y")"),
                         {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 7})}),
            2 * 7 * 5);
  EXPECT_EQ(MultiplyAdds(ParseOp(R"(type: "ConvFusion" input: "x" input: "w" output: "y")"),
                         {Floats({1, 4, 6, 6}), Floats({8, 4, 3, 3})}, {Floats({1, 8, 4, 4})}),
            8 * 16 * 4 * 9);
}

TEST_F(NetSummaryTest, WritesShapesForPeople) {
  EXPECT_EQ(ShapeText(Floats({1, 2})), "float [1, 2]");
  EXPECT_EQ(ShapeText(UnknownShape()), "?");
}

TEST_F(NetSummaryTest, DrawsOperatorsAndInputsButNoWeights) {
  const NetSummary summary = SummarizeNet({&init_}, net_, {{"x", Floats({1, 3, 4, 5})}});
  const std::string dot = NetAsDot(net_, summary);
  EXPECT_THAT(dot, HasSubstr("n0 [label=\"x\\nfloat [1, 3, 4, 5]\", shape=ellipse];"));
  EXPECT_THAT(dot, HasSubstr("n0 -> n1 [label=\"x\"];"));
  EXPECT_THAT(dot, HasSubstr("n1 -> n2 [label=\"y\"];"));
  EXPECT_THAT(dot, Not(HasSubstr("label=\"w")));
}

TEST_F(NetSummaryTest, EscapesHostileNames) {
  const NetDef net =
      ParseNet(R"(name: "a\"b" op { type: "<script>" input: "&\001\377" output: "\\" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  EXPECT_THAT(NetAsDot(net, summary), HasSubstr("digraph \"a\\\"b\""));
  const std::string svg = NetAsSvg(net, summary);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, HasSubstr("&amp;??"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

// Boxes are 220 wide and 24 apart, after a margin of 20.
TEST_F(NetSummaryTest, DrawsTheBackwardPassOnTheRight) {
  const NetDef net = ParseNet(R"(
      op { type: "Relu" input: "x" output: "y" }
      op { type: "ConstantFill" input: "y" output: "y_autogen_grad" }
      op { type: "Test" input: "y" input: "y_autogen_grad" output: "g" is_gradient_op: true }
      op { type: "Copy" input: "g" output: "h" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const std::string svg = NetAsSvg(net, summary);
  for (const char* box :
       {"x=\"20\" y=\"20\" width=\"220\" height=\"44\" rx=\"20\" class=\"input\"",
        "x=\"20\" y=\"100\" width=\"220\" height=\"44\" rx=\"4\" class=\"op\"",
        "x=\"508\" y=\"180\" width=\"220\" height=\"44\" rx=\"4\" class=\"op backward\"",
        "x=\"508\" y=\"260\" width=\"220\" height=\"44\" rx=\"4\" class=\"op backward\"",
        "x=\"508\" y=\"340\" width=\"220\" height=\"44\" rx=\"4\" class=\"op backward\"",
        "width=\"772\" height=\"440\""}) {
    EXPECT_THAT(svg, HasSubstr(box));
  }
  const std::string dot = NetAsDot(net, summary);
  const size_t cluster = dot.find("subgraph cluster_backward");
  ASSERT_NE(cluster, std::string::npos) << dot;
  EXPECT_LT(dot.find("n1 [label=\"Relu"), cluster);
  EXPECT_GT(dot.find("n2 [label=\"ConstantFill"), cluster);
  EXPECT_GT(dot.find("n4 [label=\"Copy"), cluster);
  EXPECT_THAT(NetAsDot(net_, SummarizeNet({}, net_, {})), Not(HasSubstr("cluster")));
}

TEST_F(NetSummaryTest, RefusesToDrawWhatNobodyCouldSee) {
  ExpectThrows([&] { NetAsSvg(net_, SummarizeNet({}, net_, {}), {.max_svg_ops = 1}); },
               "operators of net \"n\"");
}

}  // namespace
}  // namespace caffe2rt::test::net_summary_test
