// Facts of the operators that Caffe2 did not have: how many inputs and outputs they have, the
// defaults of their arguments; and costs and memory worked out by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/packed_gemm.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::own_operators_test {
namespace {

using Dims = std::vector<int64_t>;

const OpSchema& SchemaOf(const std::string& type) {
  EnsureBuiltinOperators();
  return *OpSchemaRegistry::Schema(type);
}

struct Counts {
  const char* type;
  int min_input, max_input, min_output, max_output;
};

TEST(OwnOperatorsTest, HaveTheInputsAndOutputsOfTheirDocuments) {
  const Counts rows[] = {{"DFT", 1, 3, 1, 1},
                         {"STFT", 2, 4, 1, 1},
                         {"HannWindow", 1, 1, 1, 1},
                         {"HammingWindow", 1, 1, 1, 1},
                         {"BlackmanWindow", 1, 1, 1, 1},
                         {"MelWeightMatrix", 5, 5, 1, 1},
                         {"MaxUnpool", 2, 3, 1, 1},
                         {"ONNXConvTranspose", 2, 3, 1, 1},
                         {"ONNXDeformConv", 3, 5, 1, 1},
                         {"ONNXMaxPool", 1, 1, 1, 2},
                         {"ONNXAveragePool", 1, 1, 1, 1},
                         {"ONNXLpPool", 1, 1, 1, 1},
                         {"BatchMatMulGradient", 3, 3, 1, 1},
                         {"BitShift", 2, 2, 1, 1},
                         {"CumSum", 2, 2, 1, 1},
                         {"CumProd", 2, 2, 1, 1},
                         {"Det", 1, 1, 1, 1},
                         {"Einsum", 1, 16, 1, 1},
                         {"Hardmax", 1, 1, 1, 1},
                         {"ONNXArgMax", 1, 1, 1, 1},
                         {"ONNXArgMin", 1, 1, 1, 1},
                         {"ONNXClip", 1, 3, 1, 1},
                         {"ONNXDropout", 1, 3, 1, 2},
                         {"ONNXMatMul", 2, 2, 1, 1},
                         {"ONNXMax", 1, INT_MAX, 1, 1},
                         {"ONNXMin", 1, INT_MAX, 1, 1},
                         {"ONNXMod", 2, 2, 1, 1},
                         {"ONNXPow", 2, 2, 1, 1},
                         {"ConvInteger", 2, 4, 1, 1},
                         {"QLinearConv", 8, 9, 1, 1},
                         {"MatMulInteger", 2, 4, 1, 1},
                         {"QLinearMatMul", 8, 8, 1, 1},
                         {"QuantizeLinear", 2, 3, 1, 1},
                         {"DequantizeLinear", 2, 3, 1, 1},
                         {"DynamicQuantizeLinear", 1, 1, 3, 3},
                         {"ONNXNarrow", 1, 1, 1, 1},
                         {"MultiHeadAttention", 3, 4, 1, 1},
                         {"LayerNormFusion", 3, 4, 1, 2},
                         {"SpatialBNFusion", 5, 5, 1, 1},
                         {"FCFusion", 2, 3, 1, 1},
                         {"ConvFusion", 2, 4, 1, 1},
                         {"MaxPoolWithIndex", 1, 1, 2, 2},
                         {"MaxUnpoolWithIndex", 2, 2, 1, 1}};
  for (const Counts& row : rows) {
    SCOPED_TRACE(row.type);
    const OpSchema& schema = SchemaOf(row.type);
    EXPECT_EQ(schema.min_input(), row.min_input);
    EXPECT_EQ(schema.max_input(), row.max_input);
    EXPECT_EQ(schema.min_output(), row.min_output);
    EXPECT_EQ(schema.max_output(), row.max_output);
  }
}

TEST(OwnOperatorsTest, AllowOnlyTheInPlaceOutputsThatTheyCanCompute) {
  EXPECT_TRUE(SchemaOf("ConvFusion").inplace_allowed(2, 0));
  EXPECT_TRUE(SchemaOf("ConvFusion").inplace_allowed(3, 0));
  EXPECT_FALSE(SchemaOf("ConvFusion").inplace_allowed(0, 0));
  EXPECT_FALSE(SchemaOf("ConvFusion").inplace_allowed(1, 0));
  EXPECT_TRUE(SchemaOf("SpatialBNFusion").inplace_allowed(0, 0));
  EXPECT_FALSE(SchemaOf("SpatialBNFusion").inplace_allowed(1, 0));
  for (const char* const type :
       {"FCFusion", "LayerNormFusion", "MultiHeadAttention", "CumSum", "Einsum", "ONNXMatMul",
        "Int8MaxPool", "Int8Conv", "Int8FC", "Int8Softmax", "Int8Flatten", "Int8Transpose"}) {
    EXPECT_FALSE(SchemaOf(type).inplace_allowed(0, 0)) << type;
  }
  for (const char* const type : {"Int8Add", "Int8AddRelu", "Int8Sum", "Int8SumRelu"}) {
    EXPECT_TRUE(SchemaOf(type).inplace_allowed(0, 0)) << type;
    EXPECT_TRUE(SchemaOf(type).inplace_allowed(1, 0)) << type;
  }
  EXPECT_TRUE(SchemaOf("Int8Reshape").inplace_allowed(0, 0));
  EXPECT_FALSE(SchemaOf("Int8Reshape").inplace_allowed(0, 1));
}

struct Defaults {
  const char* type;
  std::map<std::string, std::string> arguments;
};

// An empty text is the default of a list, or of an argument that is required.
TEST(OwnOperatorsTest, HaveTheDefaultsOfTheirDocuments) {
  const std::map<std::string, std::string> windows = {{"kernel_shape", ""},
                                                      {"strides", ""},
                                                      {"pads", ""},
                                                      {"dilations", ""},
                                                      {"auto_pad", "NOTSET"}};
  const auto with = [&](std::map<std::string, std::string> more) {
    more.insert(windows.begin(), windows.end());
    return more;
  };
  const Defaults rows[] = {
      {"DFT", {{"inverse", "0"}, {"onesided", "0"}, {"omitted_inputs", ""}}},
      {"STFT", {{"onesided", "1"}, {"omitted_inputs", ""}}},
      {"HannWindow", {{"periodic", "1"}, {"output_datatype", "1"}}},
      {"MelWeightMatrix", {{"output_datatype", "1"}}},
      {"MaxUnpool", windows},
      {"ONNXConvTranspose", with({{"group", "1"}, {"output_padding", ""}, {"output_shape", ""}})},
      {"ONNXDeformConv", with({{"group", "1"}, {"offset_group", "1"}, {"omitted_inputs", ""}})},
      {"ONNXMaxPool", with({{"ceil_mode", "0"}, {"storage_order", "0"}})},
      {"ONNXAveragePool", with({{"ceil_mode", "0"}, {"count_include_pad", "0"}})},
      {"ONNXLpPool", with({{"ceil_mode", "0"}, {"p", "2"}})},
      {"BatchMatMulGradient",
       {{"trans_a", "0"}, {"trans_b", "0"}, {"broadcast", "0"}, {"operand", "0"}}},
      {"CumSum", {{"exclusive", "0"}, {"reverse", "0"}}},
      {"Hardmax", {{"axis", "-1"}}},
      {"ONNXArgMax", {{"axis", "0"}, {"keepdims", "1"}, {"select_last_index", "0"}}},
      {"ONNXMod", {{"fmod", "0"}}},
      {"ConvInteger", with({{"group", "1"}, {"omitted_inputs", ""}})},
      {"QuantizeLinear",
       {{"axis", "1"},
        {"block_size", "0"},
        {"output_dtype", "0"},
        {"saturate", "1"},
        {"omitted_inputs", ""}}},
      {"DequantizeLinear",
       {{"axis", "1"}, {"block_size", "0"}, {"output_dtype", "0"}, {"omitted_inputs", ""}}},
      {"ONNXNarrow", {{"format", ""}, {"saturate", "1"}, {"round_mode", "up"}}},
      {"MultiHeadAttention",
       {{"heads", "1"},
        {"scale", "1"},
        {"nan_to_zero", "0"},
        {"precision", "f32"},
        {"query_shape", ""},
        {"key_shape", ""},
        {"value_shape", ""},
        {"output_shape", ""},
        {"equal_keys", "0"},
        {"equal_values", "0"},
        {"mask_rank", "4"}}},
      {"LayerNormFusion",
       {{"axis", "1"},
        {"epsilon", "1e-05"},
        {"single_axis", "0"},
        {"broadcast_last", "0"},
        {"least_rank", "1"}}},
      {"GroupNorm",
       {{"group", "32"},
        {"epsilon", "1e-05"},
        {"order", "NCHW"},
        {"num_groups", "32"},
        {"is_test", "0"}}},
      {"InstanceNorm", {{"epsilon", "1e-05"}, {"order", "NCHW"}}},
      {"LayerNorm", {{"axis", "1"}, {"epsilon", "1e-05"}, {"elementwise_affine", "0"}}},
      {"LRN", {{"size", "0"}, {"alpha", "0"}, {"beta", "0"}, {"bias", "1"}, {"order", "NCHW"}}},
      {"LpNorm", {{"p", "2"}, {"average", "0"}}},
      {"Softmax", {{"axis", "1"}}},
      {"Normalize", {{"axis", "-1"}}},
      {"SparseNormalize", {{"use_max_norm", "1"}, {"norm", "1"}}},
      {"Int8RoIAlign",
       {{"Y_scale", "1"},
        {"Y_zero_point", "0"},
        {"order", "NHWC"},
        {"spatial_scale", "1"},
        {"pooled_h", "1"},
        {"pooled_w", "1"},
        {"sampling_ratio", "-1"}}},
      {"Int8ResizeNearest",
       {{"Y_scale", "1"},
        {"Y_zero_point", "0"},
        {"height_scale", "1"},
        {"width_scale", "1"},
        {"output_size", ""},
        {"order", "NHWC"}}},
  };
  for (const Defaults& row : rows) {
    SCOPED_TRACE(row.type);
    std::map<std::string, std::string> found;
    for (const OpSchema::Argument& argument : SchemaOf(row.type).args())
      found[argument.name] = argument.default_value;
    EXPECT_EQ(found, row.arguments);
  }
}

struct CostRow {
  const char* op;
  std::vector<Dims> inputs;
  uint64_t flops, params, read, written;
};

TEST(OwnCostTest, CountsWhatGradientsAndPointsCompute) {
  const CostRow rows[] = {
      // 1 * 5 * 3 * 3 outputs with 2 * 2 * 2 products of two operations, twice; and one for each bias.
      {"ConvGradient X w G -> D E F kernel=2",
       {{1, 2, 4, 4}, {5, 2, 2, 2}, {1, 5, 3, 3}},
       45 * 16 * 2 + 45,
       160,
       (32 + 45) * 4 + 160,
       (40 + 5 + 32) * 4},
      {"ConvGradient X w G -> D kernel=2 no_bias=1",
       {{1, 2, 4, 4}, {5, 2, 2, 2}, {1, 5, 3, 3}},
       45 * 16,
       160,
       (32 + 45) * 4 + 160,
       160},
      {"ConvTransposeGradient X w G -> D E kernel=2",
       {{1, 2, 3, 3}, {2, 5, 2, 2}, {1, 5, 4, 4}},
       18 * 40 + 80,
       160,
       (18 + 80) * 4 + 160,
       (40 + 5) * 4},
      {"LpPool X -> Y kernel=2", {{1, 2, 3, 3}}, 8 * 4, 0, 72, 32},
      {"AveragePoolGradient X Y G -> D kernel=2",
       {{1, 2, 3, 3}, {1, 2, 2, 2}, {1, 2, 2, 2}},
       8 * 4,
       0,
       72 + 64,
       72},
      {"MatMul A B -> Y trans_a=1", {{3, 2}, {3, 5}}, 2 * 2 * 3 * 5, 0, (6 + 15) * 4, 40},
      {"FCTransposedGradient X W G -> D E",
       {{2, 3}, {3, 5}, {2, 5}},
       2 * 5 * 7,
       60,
       (6 + 10) * 4 + 60,
       (15 + 5) * 4},
      {"GroupNorm X g b -> Y", {{2, 32}, {32}, {32}}, 64 * 6, 0, 64 * 12, 256},
      {"InstanceNorm X s b -> Y", {{2, 3}, {3}, {3}}, 36, 0, 72, 24},
      {"LayerNorm X -> Y m s", {{2, 3}}, 36, 0, 24, 24},
      {"LayerNormFusion X g b -> Y", {{2, 3}, {3}, {3}}, 42, 0, 72, 24},
      {"SpatialBN X s b m v -> Y is_test=1", {{2, 3}, {3}, {3}, {3}, {3}}, 12, 0, 120, 24},
      {"SpatialBNFusion X s b m v -> Y is_test=1", {{2, 3}, {3}, {3}, {3}, {3}}, 18, 0, 120, 24},
      {"SpatialBNGradient X s G m v -> A B C", {{2, 3}, {3}, {2, 3}, {3}, {3}}, 60, 0, 120, 24},
      {"LRN X -> Y size=1", {{1, 6, 1, 1}}, 72, 0, 24, 24},
      {"LRNGradient X Y G -> D size=1", {{6}, {6}, {6}}, 144, 0, 72, 24},
      {"Softmax X -> Y", {{2, 3}}, 60, 0, 24, 24},
      {"SoftmaxGradient Y G -> D", {{2, 3}, {2, 3}}, 24, 0, 48, 24},
      {"Normalize X -> Y", {{2, 3}}, 18, 0, 24, 24},
      {"NormalizeGradient X G -> D", {{2, 3}, {2, 3}}, 42, 0, 48, 24},
      {"LpNorm X -> Z", {{2, 3}}, 12, 0, 24, 24},
      {"QuantizeLinear X s -> Y", {{2, 3}, {}}, 18, 0, 48, 24},
      {"ONNXPow A B -> Y", {{2, 3}, {3}}, 60, 0, 48, 24},
      {"ONNXMod A B -> Y", {{2, 3}, {3}}, 24, 0, 48, 24},
      {"CumSum X a -> Y", {{2, 3}, {}}, 6, 0, 48, 24},
  };
  for (const CostRow& row : rows) {
    SCOPED_TRACE(row.op);
    const OperatorDef op = OperatorsOf({row.op, ""})[0];
    std::vector<TensorShape> inputs;
    for (const Dims& dims : row.inputs)
      inputs.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
    const OpSchema::Cost cost = SchemaOf(op.type()).InferCost(op, inputs);
    EXPECT_EQ(cost.flops, row.flops);
    EXPECT_EQ(cost.params_bytes, row.params);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

MemoryTraits::Extra ExtraOf(const char* text, const std::vector<Dims>& in, const Dims& out) {
  const OperatorDef op = OperatorsOf({text, ""})[0];
  std::vector<TensorShape> inputs;
  for (const Dims& dims : in) inputs.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
  return SchemaOf(op.type()).memory().extra(op, inputs,
                                            {CreateTensorShape(out, TensorProto::FLOAT)});
}

TEST(OwnMemoryTest, IsThatOfColumnsAndPreparedWeights) {
  // 5 output channels with 4 taps, over 3 rows of 4 pixels.
  const auto transposed =
      ExtraOf("ConvTranspose X w -> Y kernel=2", {{1, 2, 3, 4}, {2, 5, 2, 2}}, {1, 5, 4, 5});
  EXPECT_EQ(transposed.scratch_bytes, 5 * 4 * 12 * 4);
  EXPECT_EQ(transposed.prepared_bytes, 0);
  EXPECT_EQ(ExtraOf("ConvTranspose X w -> Y kernel=2", {{0, 2, 3, 4}, {2, 5, 2, 2}}, {0, 5, 4, 5})
                .scratch_bytes,
            0);
  // Four rows are worth packing W, three are not.
  EXPECT_EQ(ExtraOf("FCFusion X W -> Y", {{4, 3}, {5, 3}}, {4, 5}).prepared_bytes,
            PackedFloats(3, 5) * 4);
  EXPECT_EQ(ExtraOf("FCFusion X W -> Y", {{3, 3}, {5, 3}}, {3, 5}).prepared_bytes, 0);
  EXPECT_EQ(ExtraOf("FCFusion X W -> Y", {{4, 0}, {5, 0}}, {4, 5}).prepared_bytes, 0);
  EXPECT_EQ(ExtraOf("FCFusion X W -> Y transposed=1", {{4, 3}, {3, 5}}, {4, 5}).prepared_bytes,
            PackedFloats(3, 5) * 4);
  EXPECT_GT(ExtraOf("FCFusion X W -> Y precision=int8", {{1, 3}, {5, 3}}, {1, 5}).prepared_bytes,
            0);
}

}  // namespace
}  // namespace caffe2rt::test::own_operators_test
