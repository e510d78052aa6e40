#include "caffe2_core/graph/net_summary.h"

#include <gtest/gtest.h>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_summary_test {
namespace {

using ::testing::HasSubstr;

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

TEST_F(NetSummaryTest, CountsTheBlobsOfAnInitNetAsParameters) {
  const NetSummary summary = SummarizeNet({}, init_, {});
  EXPECT_EQ(summary.parameters, 8 * 27 + 8);
  EXPECT_EQ(summary.parameter_bytes, (8 * 27 + 8) * 4);
  EXPECT_EQ(summary.ops[0].parameters, 8 * 27);
  EXPECT_EQ(summary.ops[1].parameters, 8);
}

TEST_F(NetSummaryTest, CountsABlobThatAnInitNetFillsTwiceOnce) {
  const NetDef net = ParseNet(R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 4 } }
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 6 } })");
  EXPECT_EQ(SummarizeNet({}, net, {}).parameters, 6);
}

TEST_F(NetSummaryTest, DistinguishesNetsThatFillWeights) {
  EXPECT_TRUE(FillsWeights(init_));
  EXPECT_FALSE(FillsWeights(net_));
  EXPECT_FALSE(FillsWeights(NetDef()));
  EXPECT_TRUE(FillsWeights(ParseNet(R"(op { type: "Load" input: "reader" output: "w" })")));
  EXPECT_FALSE(FillsWeights(ParseNet(R"(
      op { type: "ConstantFill" output: "w" } op { type: "ConstantFill" output: "b" }
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" })")));
  EXPECT_EQ(SummarizeNet({}, net_, {{"x", Floats({1, 3, 4, 5})}}).parameters, 0);
}

TEST_F(NetSummaryTest, ReportsWhatIsUnknown) {
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

}  // namespace
}  // namespace caffe2rt::test::net_summary_test
