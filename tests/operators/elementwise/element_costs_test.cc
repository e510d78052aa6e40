// The costs that operators of elements, reductions and losses report: operations for each element of the first input, and
// 4 bytes for each element that is read or written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"

namespace caffe2rt::test::element_costs_test {
namespace {

OpSchema::Cost CostOfCall(const OperatorDef& def, const std::vector<std::vector<int64_t>>& inputs) {
  EnsureBuiltinOperators();
  std::vector<TensorShape> shapes;
  for (const std::vector<int64_t>& dims : inputs)
    shapes.push_back(CreateTensorShape(dims, TensorProto_DataType_FLOAT));
  return OpSchemaRegistry::Schema(def.type())->InferCost(def, shapes);
}

struct PointCosts {
  uint64_t operations;  // for each element
  std::vector<const char*> types;
};

const PointCosts kPointCosts[] = {
    {1,
     {"Cast",
      "Where",
      "Dropout",
      "DropoutGrad",
      "BitShift",
      "CumProd",
      "CumSum",
      "Hardmax",
      "ONNXMax",
      "ONNXMin",
      "AveragedLoss",
      "RowwiseMax",
      "ColwiseMax",
      "RowwiseMaxGradient",
      "ColwiseMaxGradient",
      "SumElements",
      "SumElementsInt",
      "SumSqrElements",
      "SumReduceLike",
      "ReduceSum",
      "ReduceMean",
      "ReduceMax",
      "ReduceMin",
      "ReduceL1",
      "ReduceL2",
      "ReduceFrontSum",
      "ReduceFrontMean",
      "ReduceFrontMax",
      "ReduceBackSum",
      "ReduceBackMean",
      "ReduceBackMax",
      "ReduceFrontSumGradient",
      "ReduceFrontMaxGradient",
      "ReduceBackMeanGradient",
      "ReduceBackMaxGradient"}},
    {2,
     {"Abs",
      "AbsGradient",
      "Clip",
      "ClipGradient",
      "Elu",
      "EluGradient",
      "Exp",
      "FloatToHalf",
      "GeluGradient",
      "HardSigmoid",
      "HalfToFloat",
      "IsNaN",
      "LeakyReluGradient",
      "Log",
      "Mod",
      "Not",
      "ReluGradient",
      "Relu",
      "ReplaceNaN",
      "Scale",
      "Sigmoid",
      "SigmoidGradient",
      "Sign",
      "Sqrt",
      "SwishGradient",
      "Tanh",
      "TanhGradient",
      "PRelu",
      "Pow",
      "ElementwiseLinear",
      "ONNXClip",
      "SquaredL2Distance",
      "L1Distance",
      "DotProduct",
      "CosineSimilarity",
      "ReduceSumGradient",
      "ReduceMaxGradient",
      "ReduceL2Gradient"}},
    {3, {"SoftmaxWithLossGradient", "SpatialSoftmaxWithLossGradient"}},
    {4, {"AddGradient", "SubGradient", "MulGradient", "DivGradient", "PReluGradient", "ONNXMod"}},
    {10, {"ONNXPow"}},
    {12, {"SoftmaxWithLoss", "SpatialSoftmaxWithLoss"}},
};

// Each input and the output count as of the size of the first input.
TEST(ElementCostsTest, AreOperationsForEachElementOfTheFirstInput) {
  EnsureBuiltinOperators();
  for (const PointCosts& row : kPointCosts) {
    for (const char* const type : row.types) {
      SCOPED_TRACE(type);
      const OpSchema* const schema = OpSchemaRegistry::Schema(type);
      ASSERT_NE(schema, nullptr);
      ASSERT_TRUE(schema->HasCostInferenceFunction());
      OperatorDef def;
      def.set_type(type);
      for (int i = 0; i < schema->min_input(); ++i) def.add_input("x" + std::to_string(i));
      for (int i = 0; i < schema->min_output(); ++i) def.add_output("y" + std::to_string(i));
      std::vector<std::vector<int64_t>> inputs(static_cast<size_t>(def.input_size()), {2, 3, 5});
      const OpSchema::Cost cost = CostOfCall(def, inputs);
      EXPECT_EQ(cost.flops, 30 * row.operations);
      EXPECT_EQ(cost.params_bytes, 0u);
      EXPECT_EQ(cost.bytes_read, 120u * inputs.size());
      EXPECT_EQ(cost.bytes_written, 120u);
      EXPECT_EQ(cost.bytes_moved, cost.bytes_read + cost.bytes_written);
    }
  }
}

// One operation for each element of the result, of whichever operand is broadcast.
TEST(ElementCostsTest, OfBroadcastsCountTheResult) {
  struct Broadcast {
    const char* op;
    std::vector<std::vector<int64_t>> inputs;
    uint64_t flops, read, written;
  };
  const Broadcast rows[] = {
      {"Add A B -> Y", {{2, 3}, {2, 3}}, 6, 48, 24},
      {"Sub A B -> Y", {{3}, {2, 3}}, 6, 36, 24},
      {"Mul A B -> Y", {{2, 1}, {1, 5}}, 10, 28, 40},
      {"Div A B -> Y broadcast=1 axis=0", {{2, 3}, {2}}, 6, 32, 24},
      {"EQ A B -> Y", {{}, {4, 2}}, 8, 36, 32},
      {"And A B -> Y", {{4, 2}, {}}, 8, 36, 32},
      {"BitwiseXor A B -> Y", {{1, 7}, {3, 1}}, 21, 40, 84},
      {"Add A B -> Y", {{0, 3}, {3}}, 0, 12, 0},
      // The number of inputs for each element.
      {"Sum A -> Y", {{2, 3}}, 6, 24, 24},
      {"Mean A B -> Y", {{2, 3}, {2, 3}}, 12, 48, 24},
      {"Max A B C -> Y", {{2, 3}, {2, 3}, {2, 3}}, 18, 72, 24},
      {"Min A B -> Y", {{4}, {4}}, 8, 32, 16},
  };
  for (const Broadcast& row : rows) {
    SCOPED_TRACE(row.op);
    const OpSchema::Cost cost = CostOfCall(OperatorsOf({row.op, ""}).back(), row.inputs);
    EXPECT_EQ(cost.flops, row.flops);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

// Operators that only move elements report no operations. Sizes along an axis are a further output.
TEST(ElementCostsTest, OfMovesAreTheirBytes) {
  struct Move {
    const char* op;
    std::vector<std::vector<int64_t>> inputs;
    uint64_t read, written;
  };
  const Move rows[] = {
      {"Concat A B -> Y s axis=1", {{2, 3}, {2, 1}}, 32, 32 + 8},
      {"Concat A B C -> Y s axis=0 add_axis=1", {{2}, {2}, {2}}, 24, 24 + 12},
      {"DepthConcat A -> Y s", {{1, 2, 1, 1}}, 8, 8 + 4},
      {"Split X -> A B axis=0", {{4, 3}}, 48, 48},
      {"Split X s -> A B axis=0", {{4, 3}, {2}}, 48 + 8, 0},
      {"DepthSplit X -> A B C", {{1, 3, 2, 2}}, 48, 48},
      {"Transpose X -> Y axes=1,0", {{5, 2}}, 40, 40},
      {"Copy X -> Y", {{3, 2}}, 24, 24},
      {"StopGradient X -> Y", {{3, 2}}, 24, 24},
      {"NegateGradient X -> Y", {{7}}, 28, 28},
      {"Alias X -> Y", {{7}}, 28, 28},
      // The other tensor only states the device.
      {"CopyOnDeviceLike X L -> Y", {{3, 2}, {100}}, 24, 24},
      {"EnsureCPUOutput X -> Y", {{3, 2}}, 24, 24},
  };
  for (const Move& row : rows) {
    SCOPED_TRACE(row.op);
    const OpSchema::Cost cost = CostOfCall(OperatorsOf({row.op, ""}).back(), row.inputs);
    EXPECT_EQ(cost.flops, 0u);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

// Reports list these without a cost, instead of a wrong one.
TEST(ElementCostsTest, AreNotStatedWhereTheWorkDependsOnValues) {
  EnsureBuiltinOperators();
  for (const char* const type :
       {"Gather", "NonZero", "TopK", "LengthsSum", "Unique", "Adam", "Tile"})
    EXPECT_FALSE(OpSchemaRegistry::Schema(type)->HasCostInferenceFunction()) << type;
}

}  // namespace
}  // namespace caffe2rt::test::element_costs_test
