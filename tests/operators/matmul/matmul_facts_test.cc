// Facts about matrix multiplications that others plan with (costs, memory, plans of batches), and
// operators that run again on other inputs or after an error.
#include <gtest/gtest.h>

#include "caffe2_core/graph/memory_traits.h"
#include "operators/matmul/batch_mat_mul.h"
#include "operators/primitives/packed_gemm.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::matmul_facts_test {
namespace {

using Dims = std::vector<int64_t>;

std::vector<TensorShape> FloatShapes(const std::vector<Dims>& all) {
  std::vector<TensorShape> shapes;
  for (const Dims& dims : all) shapes.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
  return shapes;
}

TEST(MatMulCostsTest, FollowAxesBatchesAndBias) {
  EnsureBuiltinOperators();
  struct CostRow {
    const char* op;
    std::vector<Dims> inputs;
    uint64_t flops, params, read, written;
  };
  const CostRow rows[] = {
      {"FC X W b -> Y axis=2", {{2, 3, 4}, {5, 4}, {5}}, 6 * 5 * 9, 100, 96 + 100, 120},
      {"FCTransposed X W b -> Y axis_w=2", {{3, 4}, {2, 2, 5}, {5}}, 3 * 5 * 9, 100, 48 + 100, 60},
      {"FCFusion X W -> Y", {{3, 4}, {5, 4}}, 15 * 8, 80, 48 + 80, 60},
      {"FCFusion X W b -> Y transposed=1 axis=-1",
       {{2, 3, 4}, {4, 5}, {5}},
       30 * 9,
       100,
       96 + 100,
       120},
      {"FCGradient X W G -> dW db dX axis=2",
       {{2, 3, 4}, {5, 4}, {6, 5}},
       30 * 9 + 30 * 8,
       80,
       96 + 120 + 80,
       80 + 20 + 96},
      {"FCTransposedGradient X W G -> dW db",
       {{3, 4}, {4, 5}, {3, 5}},
       15 * 9,
       80,
       48 + 60 + 80,
       80 + 20},
      {"MatMul A B -> Y axis_a=2 trans_b=1", {{2, 3, 4}, {5, 4}}, 2 * 6 * 5 * 4, 0, 176, 120},
      {"BatchMatMul A B -> Y broadcast=1",
       {{3, 1, 4, 2}, {5, 2, 6}},
       2 * 3 * 5 * 4 * 6 * 2,
       0,
       (24 + 60) * 4,
       360 * 4},
      {"BatchMatMul A B -> Y", {{2}, {3, 2, 5}}, 2 * 15 * 2, 0, 32 * 4, 60},
      {"BatchMatMul A B -> Y trans_a=1 trans_b=1",
       {{3, 2, 4}, {3, 5, 2}},
       2 * 3 * 4 * 5 * 2,
       0,
       (24 + 30) * 4,
       240},
  };
  for (const CostRow& row : rows) {
    SCOPED_TRACE(row.op);
    const OperatorDef def = OperatorsOf({row.op, ""})[0];
    const OpSchema::Cost cost =
        OpSchemaRegistry::Schema(def.type())->InferCost(def, FloatShapes(row.inputs));
    EXPECT_EQ(cost.flops, row.flops);
    EXPECT_EQ(cost.params_bytes, row.params);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

TEST(FCFusionMemoryTest, IsThatOfPackedWeightsFromFourRowsOn) {
  EnsureBuiltinOperators();
  struct MemoryRow {
    const char* op;
    Dims x, w;
    int64_t prepared;
  };
  const auto packed = [](int64_t k, int64_t n) { return 4 * PackedFloats(k, n); };
  const MemoryRow rows[] = {
      {"FCFusion X W -> Y", {3, 20}, {40, 20}, 0},
      {"FCFusion X W -> Y", {4, 20}, {40, 20}, packed(20, 40)},
      {"FCFusion X W -> Y transposed=1", {4, 20}, {20, 40}, packed(20, 40)},
      {"FCFusion X W -> Y axis=2", {2, 2, 20}, {40, 20}, packed(20, 40)},
      {"FCFusion X W -> Y axis=0", {4, 5}, {40, 4, 5}, 0},
      {"FCFusion X W -> Y", {4, 0}, {40, 0}, 0},
      {"FCFusion X W -> Y", {4, 20}, {0, 20}, 0},
      {"FCFusion X W -> Y", {4, 20}, {40, 21}, 0},  // does not fit
  };
  for (const MemoryRow& row : rows) {
    const OperatorDef def = OperatorsOf({row.op, ""})[0];
    const auto extra = ExtraMemoryOf(def, FloatShapes({row.x, row.w}), FloatShapes({{1}}));
    EXPECT_EQ(extra.prepared_bytes, row.prepared) << row.op << IntArrayRef(row.x);
    EXPECT_EQ(extra.scratch_bytes, 0) << row.op;
    EXPECT_FALSE(extra.prepared_unknown) << row.op;
  }
}

TEST(BatchMatMulPlanTest, StatesSizesAndStridesOfOperands) {
  struct PlanRow {
    Dims a, b;
    bool trans_a, trans_b, broadcast;
    int64_t m, n, k;
    Dims y, batch, a_strides, b_strides;
  };
  const PlanRow rows[] = {
      {{2, 3}, {3, 4}, false, false, false, 2, 4, 3, {2, 4}, {}, {}, {}},
      {{3, 2}, {4, 3}, true, true, false, 2, 4, 3, {2, 4}, {}, {}, {}},
      {{5, 2, 3}, {5, 3, 4}, false, false, false, 2, 4, 3, {5, 2, 4}, {5}, {1}, {1}},
      {{7, 1, 2, 3}, {5, 3, 4}, false, false, true, 2, 4, 3, {7, 5, 2, 4}, {7, 5}, {1, 0}, {0, 1}},
      {{2, 3, 4, 1, 2},
       {3, 1, 2, 6},
       false,
       false,
       true,
       1,
       6,
       2,
       {2, 3, 4, 1, 6},
       {2, 3, 4},
       {12, 4, 1},
       {0, 1, 0}},
      // Vectors have no axis in Y, and are not transposed.
      {{3}, {5, 3, 4}, true, false, false, 1, 4, 3, {5, 4}, {5}, {0}, {1}},
      {{5, 3, 2}, {3}, true, true, false, 2, 1, 3, {5, 2}, {5}, {1}, {0}},
      {{3}, {3}, true, true, true, 1, 1, 3, {1}, {}, {}, {}},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const PlanRow& row = rows[i];
    SCOPED_TRACE(i);
    const BatchMatMulPlan plan =
        PlanBatchMatMul(row.a, row.b, row.trans_a, row.trans_b, row.broadcast);
    EXPECT_EQ(plan.m, row.m);
    EXPECT_EQ(plan.n, row.n);
    EXPECT_EQ(plan.k, row.k);
    EXPECT_EQ(plan.trans_a, row.trans_a && row.a.size() > 1);
    EXPECT_EQ(plan.trans_b, row.trans_b && row.b.size() > 1);
    EXPECT_EQ(plan.y_dims, row.y);
    EXPECT_EQ(plan.batch_dims, row.batch);
    EXPECT_EQ(plan.a_strides, row.a_strides);
    EXPECT_EQ(plan.b_strides, row.b_strides);
  }
}

TEST(BatchMatMulPlanTest, LocatesTheMatrixOfEachIndex) {
  // Axes of 2, 3 and 4; a matrix for each index of axes 0 and 2.
  const Dims dims = {2, 3, 4}, strides = {4, 0, 1};
  int64_t i = 0;
  for (int64_t p = 0; p < 2; ++p) {
    for (int64_t q = 0; q < 3; ++q) {
      for (int64_t r = 0; r < 4; ++r, ++i) {
        EXPECT_EQ(LocateMatrix(dims, strides, i), 4 * p + r) << p << q << r;
      }
    }
  }
  EXPECT_EQ(LocateMatrix({}, {}, 0), 0);
}

TEST(MatMulRunsTest, FollowTheirInputsAndRecoverFromErrors) {
  for (const char* const type : {"FC", "FCFusion"}) {
    ExpectRuns((type + std::string(" X W b -> Y")).c_str(),
               {{"X f 1,2 = 1,2; W f 1,2 = 3,4; b f 1 = 5", "Y f 1,1 = 16"},
                // Only W and b change their shapes, then only X.
                {"W f 2,2 = 3,4,5,6; b f 2 = 5,7", "Y f 1,2 = 16,24"},
                {"X f 5,2 = 1,2,0,1", "Y f 5,2 = 16,24,9,13,16,24,9,13,16,24"},
                {"b f 3", "", "input 2 (b) has shape [3], want [2]"},
                {"b f 2 = 0,1; W f 2,3", "", "has rows of 2"},
                {"W f 2,2 = 3,4,5,6", "Y f 5,2 = 11,18,4,7,11,18,4,7,11,18"},
                // The same shapes, other weights and bias.
                {"W f 2,2 = 1,0,0,2; b f 2 = 1,0", "Y f 5,2 = 2,4,1,2,2,4,1,2,2,4"},
                {"X f 0,2", "Y f 0,2"},
                {"X f 4,1,2 = 1,2", "Y f 4,2 = 2,4,2,4,2,4,2,4"},
                {"X f 2,0; W f 2,0; b f 2 = 3,4", "Y f 2,2 = 3,4,3,4"}});
  }
  ExpectRuns("FCFusion X W -> Y transposed=1 activation=Relu",
             {{"X f 4,2 = 1,2; W f 2,1 = 3,-4", "Y f 4,1 = 0"},
              {"W f 2,1 = 3,4", "Y f 4,1 = 11"},
              {"X f 1,2 = 1,2", "Y f 1,1 = 11"},
              {"W f 2,2 = 3,4,-5,6", "Y f 1,2 = 0,16"},
              {"X f 5,2 = 1,2", "Y f 5,2 = 0,16"}});
  ExpectRuns("MatMul A B -> Y", {{"A f 1,2 = 1,2; B f 2,1 = 3,4", "Y f 1,1 = 11"},
                                 {"B f 2,2 = 3,4,5,6", "Y f 1,2 = 13,16"},
                                 {"A f 2,1", "", "columns of input 0 (A)"},
                                 {"B f 1,2 = 3,4; A f 2,1 = 1,2", "Y f 2,2 = 3,4,6,8"},
                                 {"A f 2,0; B f 0,3", "Y f 2,3 = 0"},
                                 {"A f 1,2 = 1,2; B f 2,1 = 3,4", "Y f 1,1 = 11"}});
  ExpectRuns("BatchMatMul A B -> Y broadcast=1",
             {{"A f 2,1,1 = 1,2; B f 1,1 = 3", "Y f 2,1,1 = 3,6"},
              {"B f 2,1,2 = 3,4,5,6", "Y f 2,1,2 = 3,4,10,12"},
              {"A f 3,1,1", "", "want axes that are equal or 1"},
              {"A f 1,1,1 = 2", "Y f 2,1,2 = 6,8,10,12"},
              {"A f 1 = 2", "Y f 2,2 = 6,8,10,12"},
              {"A f 0,1,1; B f 1,1,2", "Y f 0,1,2"},
              {"A f 2,1,1 = 1,2; B f 1,1 = 3", "Y f 2,1,1 = 3,6"}});
  ExpectRuns(
      "FCGradient X W G -> dW db dX",
      {{"X f 1,2 = 1,2; W f 1,2 = 3,4; G f 1,1 = 10",
        "dW f 1,2 = 10,20; db f 1 = 10; dX f 1,2 = 30,40"},
       {"G f 2,1", "", "elements of input 2 (dY)"},
       {"X f 2,2 = 1,2,3,4; G f 2,1 = 10,1", "dW f 1,2 = 13,24; db f 1 = 11; dX f 2,2 = 30,40,3,4"},
       {"X f 0,2; G f 0,1", "dW f 1,2 = 0; db f 1 = 0; dX f 0,2"}});
}

}  // namespace
}  // namespace caffe2rt::test::matmul_facts_test
