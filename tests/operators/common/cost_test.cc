// The costs that operators report, compared with values worked out by hand. A multiplication and an
// addition count as two operations, an element has 4 bytes, and weights and biases count as
// parameters.
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::cost_test {
namespace {

struct CostCase {
  const char* name;
  const char* op;
  std::vector<std::vector<int64_t>> inputs;
  uint64_t flops, params, read, written;
};
void PrintTo(const CostCase& c, std::ostream* out) { *out << c.name; }

class OperatorCostTest : public testing::TestWithParam<CostCase> {};

OpSchema::Cost CostOf(const CostCase& c, const std::vector<TensorShape>& in) {
  EnsureBuiltinOperators();
  const OperatorDef def = ParseOp(c.op);
  const OpSchema* schema = OpSchemaRegistry::Schema(def.type());
  CAFFE_ENFORCE(schema != nullptr && schema->HasCostInferenceFunction(), "type ", def.type());
  return schema->InferCost(def, in);
}

TEST_P(OperatorCostTest, IsTheOneWorkedOutByHand) {
  const CostCase& c = GetParam();
  std::vector<TensorShape> in;
  for (const auto& dims : c.inputs)
    in.push_back(CreateTensorShape(dims, TensorProto_DataType_FLOAT));
  const OpSchema::Cost cost = CostOf(c, in);
  EXPECT_EQ(cost.flops, c.flops);
  EXPECT_EQ(cost.params_bytes, c.params);
  EXPECT_EQ(cost.bytes_read, c.read);
  EXPECT_EQ(cost.bytes_written, c.written);
  EXPECT_EQ(cost.bytes_moved, c.read + c.written);
}

const CostCase kCases[] = {
    // 2 * 6 * 8 * 8 outputs with 2 * 3 * 3 terms each, and 108 weights.
    {"Conv",
     R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "pad" i: 1 } arg { name: "group" i: 2 })",
     {{2, 4, 8, 8}, {6, 2, 3, 3}},
     768 * 36,
     432,
     2048 + 432,
     3072},
    // One additional addition per output.
    {"ConvWithBias",
     R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "pad" i: 1 } arg { name: "group" i: 2 })",
     {{2, 4, 8, 8}, {6, 2, 3, 3}, {6}},
     768 * 37,
     456,
     2048 + 456,
     3072},
    // 4 * 2 * 2 outputs with 3 * 3 * 3 terms each.
    {"ConvChannelsLast",
     R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "stride" i: 2 } arg { name: "order" s: "NHWC" })",
     {{1, 5, 5, 3}, {4, 3, 3, 3}, {4}},
     16 * 55,
     448,
     300 + 448,
     64},
    // 4 * 3 * 3 inputs, each multiplied by 2 * 2 * 2 weights, and 2 * 6 * 6 outputs.
    {"ConvTranspose",
     R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 2 }
        arg { name: "stride" i: 2 })",
     {{1, 4, 3, 3}, {4, 2, 2, 2}},
     36 * 16,
     128,
     144 + 128,
     288},
    {"ConvTransposeWithBias",
     R"(type: "ConvTranspose" input: "X" input: "W" input: "b" output: "Y"
        arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })",
     {{1, 4, 3, 3}, {4, 2, 2, 2}, {2}},
     36 * 16 + 72,
     136,
     144 + 136,
     288},
    {"ConvTransposeOfGroups",
     R"(type: "ConvTranspose" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 2 }
        arg { name: "stride" i: 2 } arg { name: "group" i: 2 })",
     {{1, 4, 3, 3}, {4, 1, 2, 2}},
     36 * 8,
     64,
     144 + 64,
     288},
    {"MaxPool",
     R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 2 }
        arg { name: "stride" i: 2 })",
     {{2, 3, 8, 8}},
     96 * 4,
     0,
     1536,
     384},
    {"GlobalAveragePool",
     R"(type: "AveragePool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 }
        arg { name: "order" s: "NHWC" })",
     {{2, 4, 5, 3}},
     6 * 20,
     0,
     480,
     24},
    {"FC",
     R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")",
     {{3, 2, 2}, {5, 4}, {5}},
     15 * 9,
     100,
     48 + 100,
     60},
    {"FCTransposed",
     R"(type: "FCTransposed" input: "X" input: "W" input: "b" output: "Y")",
     {{3, 4}, {4, 5}, {5}},
     15 * 9,
     100,
     48 + 100,
     60},
    // 2 * 15 * 4 for dW and 15 for db.
    {"FCGradient",
     R"(type: "FCGradient" input: "X" input: "W" input: "dY" output: "dW" output: "db")",
     {{3, 2, 2}, {5, 4}, {3, 5}},
     15 * 9,
     80,
     48 + 60 + 80,
     80 + 20},
    // 2 * 15 * 4 more for dX.
    {"FCGradientOfX",
     R"(type: "FCGradient" input: "X" input: "W" input: "dY"
        output: "dW" output: "db" output: "dX")",
     {{3, 2, 2}, {5, 4}, {3, 5}},
     15 * 17,
     80,
     48 + 60 + 80,
     80 + 20 + 48},
    {"FCTransposedGradientOfX",
     R"(type: "FCTransposedGradient" input: "X" input: "W" input: "dY"
        output: "dW" output: "db" output: "dX")",
     {{3, 4}, {4, 5}, {3, 5}},
     15 * 17,
     80,
     48 + 60 + 80,
     80 + 20 + 48},
    {"MatMul",
     R"(type: "MatMul" input: "A" input: "B" output: "Y" arg { name: "trans_a" i: 1 })",
     {{3, 2}, {3, 4}},
     8 * 6,
     0,
     72,
     32},
    {"BatchMatMul",
     R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")",
     {{5, 2, 3}, {5, 3, 4}},
     5 * 8 * 6,
     0,
     360,
     160},
    {"AddBroadcast",
     R"(type: "Add" input: "A" input: "B" output: "Y" arg { name: "broadcast" i: 1 })",
     {{2, 3}, {3}},
     6,
     0,
     36,
     24},
    {"Sum",
     R"(type: "Sum" input: "A" input: "B" input: "C" output: "Y")",
     {{2, 3}, {2, 3}, {2, 3}},
     18,
     0,
     72,
     24},
    {"Copy", R"(type: "Copy" input: "X" output: "Y")", {{2, 3}}, 0, 0, 24, 24},
    {"Transpose", R"(type: "Transpose" input: "X" output: "Y")", {{2, 3, 4}}, 0, 0, 96, 96},
    {"Split",
     R"(type: "Split" input: "X" output: "Y" output: "Z" arg { name: "axis" i: 1 })",
     {{2, 6}},
     0,
     0,
     48,
     48},
    // The windows of the forward pass; X, Y and dY are read.
    {"MaxPoolGradient",
     R"(type: "MaxPoolGradient" input: "X" input: "Y" input: "dY" output: "dX"
        arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })",
     {{2, 3, 8, 8}, {2, 3, 4, 4}, {2, 3, 4, 4}},
     96 * 4,
     0,
     1536 + 2 * 384,
     1536},
    // The product that Conv computes, and one addition of S per output.
    {"ConvFusionOfASum",
     R"(type: "ConvFusion" input: "X" input: "W" input: "S" output: "Y" arg { name: "kernel" i: 3 }
        arg { name: "pad" i: 1 } arg { name: "group" i: 2 } arg { name: "sum" i: 1 })",
     {{2, 4, 8, 8}, {6, 2, 3, 3}, {2, 6, 8, 8}},
     768 * 37,
     432,
     2048 + 432 + 3072,
     3072},
    {"FCFusion",
     R"(type: "FCFusion" input: "X" input: "W" input: "b" output: "Y")",
     {{3, 2, 2}, {5, 4}, {5}},
     15 * 9,
     100,
     48 + 100,
     60},
    // 2 * 2 * 3 * 5 scores of 4 products each, which weigh 2 values each, and ten operations of softmax.
    {"MultiHeadAttention",
     R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" output: "Y"
        arg { name: "heads" i: 2 })",
     {{2, 3, 8}, {2, 5, 8}, {2, 5, 4}},
     60 * (2 * 4 + 2 * 2 + 10),
     0,
     192 + 320 + 160,
     96},
};

INSTANTIATE_TEST_SUITE_P(Types, OperatorCostTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Four operations for each element of X; inputs and outputs count as of its size.
TEST(PointwiseOperatorCostTest, IsThatOfTheFirstInput) {
  const CostCase c = {"ChannelBackpropStats",
                      R"(type: "ChannelBackpropStats" input: "X" input: "m" input: "i" input: "dY"
                         output: "ds" output: "db")",
                      {{2, 3, 4}, {3}, {3}, {2, 3, 4}},
                      24 * 4,
                      0,
                      96 * 4,
                      96};
  std::vector<TensorShape> in;
  for (const auto& dims : c.inputs)
    in.push_back(CreateTensorShape(dims, TensorProto_DataType_FLOAT));
  const OpSchema::Cost cost = CostOf(c, in);
  EXPECT_EQ(cost.flops, c.flops);
  EXPECT_EQ(cost.params_bytes, c.params);
  EXPECT_EQ(cost.bytes_read, c.read);
  EXPECT_EQ(cost.bytes_written, c.written);
}

TEST(UnknownOperatorCostTest, IsNothingWhereShapesAreUnknown) {
  TensorShape unknown;
  unknown.set_unknown_shape(true);
  for (const CostCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const OpSchema::Cost cost = CostOf(c, std::vector<TensorShape>(c.inputs.size(), unknown));
    EXPECT_EQ(cost.flops, 0u);
    EXPECT_EQ(cost.bytes_moved, 0u);
  }
}

// The operator reports such inputs when it runs; a report of costs must not fail before.
TEST(UnfitOperatorCostTest, NeverThrowsForShapesThatDoNotFit) {
  const std::vector<std::vector<int64_t>> unfit = {{},      {0},       {7},
                                                   {3, 11}, {2, 5, 1}, {1, 2, 3, 4, 5}};
  for (const CostCase& c : kCases) {
    for (const std::vector<int64_t>& dims : unfit) {
      for (size_t i = 0; i < c.inputs.size(); ++i) {
        std::vector<TensorShape> in;
        for (const auto& fitting : c.inputs)
          in.push_back(CreateTensorShape(fitting, TensorProto_DataType_FLOAT));
        in[i] = CreateTensorShape(dims, TensorProto_DataType_FLOAT);
        EXPECT_NO_THROW(CostOf(c, in)) << c.name << ", input " << i;
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::cost_test
