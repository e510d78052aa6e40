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

TEST_F(NetSummaryTest, CountsMultiplyAddsOfEachKind) {
  const TensorShape none = UnknownShape();
  const auto count = [](const std::string& type, const std::vector<TensorShape>& inputs,
                        const std::vector<TensorShape>& outputs) {
    return MultiplyAdds(ParseOp("type: \"" + type), inputs, outputs);
  };
  const std::string matmul = "MatMul\"", transposed = matmul + R"( arg { name: "trans_a" i: 1 })",
                    plain = matmul + R"( arg { name: "trans_a" i: 0 })";
  struct Row {
    std::string type;
    std::vector<TensorShape> inputs, outputs;
    int64_t count;
  };
  const Row rows[] = {
      {matmul, {Floats({2, 5}), Floats({5, 7})}, {Floats({2, 7})}, 70},
      {plain, {Floats({2, 5}), Floats({5, 7})}, {Floats({2, 7})}, 70},
      {matmul, {Floats({4, 2, 5}), Floats({4, 5, 7})}, {Floats({4, 2, 7})}, 280},
      {transposed, {Floats({4, 5, 2}), Floats({4, 5, 7})}, {Floats({4, 2, 7})}, 280},
      {transposed, {Floats({5}), Floats({5, 7})}, {Floats({7})}, 35},
      {matmul, {Floats({}), Floats({})}, {Floats({})}, 0},
      {matmul, {Floats({2, -1}), Floats({5, 7})}, {Floats({2, 7})}, 0},
      {"BatchMatMul\"", {Floats({4, 2, 5}), Floats({4, 5, 7})}, {Floats({4, 2, 7})}, 280},
      {"FC\"", {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 7})}, 70},
      {"FC\"", {Floats({2, 3, 5}), Floats({7, 5})}, {Floats({2, 3, 7})}, 210},
      {"FCTransposed\"", {Floats({2, 5}), Floats({5, 7})}, {Floats({2, 7})}, 70},
      {"FC\"", {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 0})}, 0},
      {"FC\"", {Floats({5}), Floats({1, 5})}, {Floats({})}, 5},
      {"Conv\"", {Floats({1, 4, 6, 6}), Floats({8, 2, 3, 3})}, {Floats({1, 8, 4, 4})}, 128 * 18},
      {"Conv\"", {Floats({1, 4, 6, 6}), Floats({8, -2, 3, 3})}, {Floats({1, 8, 4, 4})}, 0},
      {"ConvTranspose\"",
       {Floats({2, 4, 3, 3}), Floats({4, 6, 2, 2})},
       {Floats({2, 6, 6, 6})},
       72 * 24},
      {"Add\"", {Floats({2, 5}), Floats({2, 5})}, {Floats({2, 5})}, 0},
      {"FC\"", {Floats({2, 5})}, {Floats({2, 7})}, 0},
      {"FC\"", {Floats({2, 5}), Floats({7, 5})}, {}, 0},
      {"FC\"", {none, Floats({7, 5})}, {Floats({2, 7})}, 0},
      {"FC\"", {Floats({2, 5}), none}, {Floats({2, 7})}, 0},
      {"FC\"", {Floats({2, 5}), Floats({7, 5})}, {none}, 0},
      {"NoSuchType\"", {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 7})}, 0},
      {matmul,
       {Floats({1 << 30, 1 << 30}), Floats({1 << 30, 1 << 30})},
       {Floats({1 << 30, 1 << 30})},
       INT64_MAX},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    EXPECT_EQ(count(rows[i].type, rows[i].inputs, rows[i].outputs), rows[i].count)
        << i << " " << rows[i].type;
  }
}

TEST_F(NetSummaryTest, CountsElementsAndBytesOfShapes) {
  EXPECT_EQ(ElementsOf(Floats({})), 1);
  EXPECT_EQ(ElementsOf(Floats({3, 0, 2})), 0);
  EXPECT_EQ(ElementsOf(Floats({3, -2})), 0);
  EXPECT_EQ(ElementsOf(UnknownShape()), 0);
  const auto bytes = [](TensorProto_DataType type) {
    return BytesOf(CreateTensorShape(std::vector<int64_t>{3, 2}, type));
  };
  EXPECT_EQ(bytes(TensorProto::FLOAT), 24);
  EXPECT_EQ(bytes(TensorProto::DOUBLE), 48);
  EXPECT_EQ(bytes(TensorProto::INT64), 48);
  EXPECT_EQ(bytes(TensorProto::FLOAT16), 12);
  EXPECT_EQ(bytes(TensorProto::UINT8), 6);
  EXPECT_EQ(bytes(TensorProto::BOOL), 6);
  EXPECT_EQ(bytes(TensorProto::UNDEFINED), 0);
}

// Names that the caller states are the parameters, whatever the init net writes. Seeds are what the
// caller feeds: their shapes precede those of the init net, and they are no parameters.
TEST_F(NetSummaryTest, ParametersAreNamedOrWrittenByInitNetsAndNotFed) {
  const ShapeMap x = {{"x", Floats({1, 3, 4, 5})}};
  const auto counts = [&](const ShapeMap& seeds, const std::set<std::string>& names) {
    const NetSummary summary = SummarizeNet({&init_}, net_, seeds, names);
    return MakeString(summary.parameters, " ", summary.ops[0].parameters, " ",
                      summary.ops[1].parameters, " ", summary.parameter_bytes);
  };
  EXPECT_EQ(counts(x, {}), "224 224 0 896");
  EXPECT_EQ(counts(x, {"b"}), "8 8 0 32");
  EXPECT_EQ(counts(x, {"x", "b"}), "68 68 0 272");
  ShapeMap fed = x;
  fed["b"] = Floats({9});
  EXPECT_EQ(counts(fed, {}), "216 216 0 864");
  EXPECT_EQ(counts(fed, {"b"}), "9 9 0 36");
  EXPECT_EQ(SummarizeNet({&init_}, net_, fed).shapes.at("b").dims(0), 9);
  EXPECT_EQ(SummarizeNet({&init_}, net_, x).shapes.at("b").dims(0), 8);
}

// A parameter belongs to its first reader. A blob that is written several times counts once, with
// its largest value.
TEST_F(NetSummaryTest, CountsEachBlobOnce) {
  const NetDef net = ParseNet(R"(
      op { type: "Split" name: "s" input: "x" output: "a" output: "b" arg { name: "axis" i: 1 } }
      op { type: "Add" input: "a" input: "w" output: "c" }
      op { type: "Add" input: "b" input: "w" output: "d" }
      op { type: "Concat" input: "c" input: "d" output: "c" output: "sizes" }
      op { type: "NoSuchType" input: "c" output: "e" }
      op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 1 } })");
  const NetSummary summary =
      SummarizeNet({}, net, {{"x", Floats({2, 6})}, {"w", Floats({2, 3})}}, {"w"});
  ASSERT_EQ(summary.ops.size(), 6u);
  EXPECT_EQ(summary.ops[0].type, "Split");
  EXPECT_EQ(summary.ops[0].name, "s");
  EXPECT_EQ(summary.ops[0].input_names, std::vector<std::string>{"x"});
  EXPECT_EQ(summary.ops[0].output_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(summary.ops[0].output_bytes, 2 * 24);
  EXPECT_EQ(summary.ops[1].parameters, 6);
  EXPECT_EQ(summary.ops[2].parameters, 0);
  EXPECT_EQ(summary.parameters, 6);
  EXPECT_EQ(summary.parameter_bytes, 24);
  EXPECT_EQ(summary.ops[3].output_bytes, 48 + 8);
  EXPECT_EQ(summary.ops[5].output_bytes, 4);
  EXPECT_EQ(summary.activation_bytes, 24 + 24 + 48 + 24 + 8);  // a, b, c, d, sizes
  EXPECT_EQ(summary.unknown_ops, 1);
  EXPECT_TRUE(summary.ops[3].complete);
  EXPECT_FALSE(summary.ops[4].complete);
}

// More than half of the operators fill or load, and none reads what another net writes.
TEST_F(NetSummaryTest, NetsOfWeightsFillMostlyAndReadNothing) {
  const std::string fill = R"(op { type: "ConstantFill" output: "w" } )",
                    load = R"(op { type: "Load" input: "reader" output: "l" } )",
                    inner = R"(op { type: "Relu" input: "w" output: "w" } )",
                    outer = R"(op { type: "Relu" input: "x" output: "y" } )";
  EXPECT_FALSE(FillsWeights(ParseNet(fill + inner)));
  EXPECT_TRUE(FillsWeights(ParseNet(fill + load + inner)));
  EXPECT_FALSE(FillsWeights(ParseNet(fill + load + outer)));
  EXPECT_FALSE(FillsWeights(ParseNet(inner + fill + load)));
  EXPECT_FALSE(FillsWeights(ParseNet(fill + fill + inner + outer)));
}

}  // namespace
}  // namespace caffe2rt::test::net_summary_test
