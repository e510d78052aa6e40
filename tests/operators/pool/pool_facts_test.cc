// Costs of pools, their plans, and pools that run again on other inputs or after an error.
#include <gtest/gtest.h>

#include <limits>

#include "operators/common/conv_geometry.h"
#include "operators/pool/max_unpool_with_index.h"
#include "operators/pool/pool_plan.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::pool_facts_test {
namespace {

using Dims = std::vector<int64_t>;

TEST(PoolCostsTest, CountElementsOfAllWindows) {
  EnsureBuiltinOperators();
  struct CostRow {
    const char* op;
    std::vector<Dims> inputs;
    uint64_t flops, read, written;
  };
  const CostRow rows[] = {
      // 4 x 4 windows of 4 elements in two planes; those in the padding count.
      {"AveragePool X -> Y kernel=2 pad=1", {{1, 2, 3, 3}}, 32 * 4, 72, 128},
      {"MaxPool X -> Y kernels=2,3 strides=1,2 order=NHWC", {{2, 5, 7, 3}}, 72 * 6, 840, 288},
      {"LpPool X -> Y global_pooling=1", {{2, 3, 4, 5}}, 6 * 20, 480, 24},
      {"MaxPool X -> Y kernels=2,", {{2, 3, 5}}, 24 * 2, 120, 96},
      // X and two tensors of the size of Y are read.
      {"LpPoolGradient X Y G -> D kernel=2",
       {{1, 1, 3, 3}, {1, 1, 2, 2}, {1, 1, 2, 2}},
       16,
       36 + 2 * 16,
       36},
      {"AveragePoolGradient X Y G -> D kernels=1,2 order=NHWC",
       {{1, 2, 3, 5}, {1, 2, 2, 5}, {1, 2, 2, 5}},
       40,
       120 + 2 * 80,
       120},
  };
  for (const CostRow& row : rows) {
    SCOPED_TRACE(row.op);
    std::vector<TensorShape> in;
    for (const Dims& dims : row.inputs) in.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
    const OperatorDef def = OperatorsOf({row.op, ""})[0];
    const OpSchema::Cost cost = OpSchemaRegistry::Schema(def.type())->InferCost(def, in);
    EXPECT_EQ(cost.flops, row.flops);
    EXPECT_EQ(cost.params_bytes, 0u);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

PoolPlan PlanFor(const std::string& arguments, const Dims& x, bool include_pad = false) {
  const std::string text = "MaxPool X -> Y " + arguments;
  const OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kPool);
  return MakePoolPlan(MakeWindowGeometry(window, x), window.global_pooling, include_pad);
}

TEST(PoolPlanTest, StatesWhatEachKindOfPoolDoesWithNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  struct KindRow {
    const char* arguments;
    Dims x;
    bool whole, first_wins, last;
    float lowest;
  };
  const KindRow rows[] = {
      {"kernel=2", {1, 2, 4, 5}, false, true, false, -kInfinity},
      {"kernel=2 order=NHWC", {1, 4, 5, 2}, false, false, true, kLowest},
      {"kernels=2,", {1, 2, 5}, false, true, false, -kInfinity},
      {"kernels=2, order=NHWC", {1, 5, 2}, false, true, true, -kInfinity},
      {"kernels=2,2,2", {1, 2, 3, 4, 5}, false, false, false, kLowest},
      {"global_pooling=1", {1, 2, 4, 5}, true, false, false, -kInfinity},
      {"global_pooling=1 order=NHWC", {1, 4, 5, 2}, true, false, true, kLowest},
      // One window that covers the image, which is not global pooling.
      {"kernels=4,5", {1, 2, 4, 5}, true, true, false, -kInfinity},
      {"kernels=4,5 order=NHWC", {1, 4, 5, 2}, true, false, true, kLowest},
      {"kernels=4,4 strides=1,2", {1, 2, 4, 5}, false, true, false, -kInfinity},
      {"kernels=4,5 pads=0,1,0,0 strides=1,2", {1, 2, 4, 5}, false, true, false, -kInfinity},
  };
  for (const KindRow& row : rows) {
    SCOPED_TRACE(row.arguments);
    const PoolPlan plan = PlanFor(row.arguments, row.x);
    EXPECT_EQ(plan.whole, row.whole);
    EXPECT_EQ(plan.first_wins, row.first_wins);
    EXPECT_EQ(plan.last, row.last);
    EXPECT_EQ(plan.lowest, row.lowest);
    EXPECT_EQ(plan.batch, 1);
    EXPECT_EQ(plan.channels, 2);
  }
}

TEST(PoolPlanTest, CountsTheColumnsInsideEachWindow) {
  // Windows of 3 at -1, 1, 3 and 5 in a row of 6, and of 7.
  EXPECT_EQ(PlanFor("kernel=3 pad=1 stride=2", {1, 1, 5, 6}).columns,
            (std::vector<float>{2, 3, 3}));
  EXPECT_EQ(PlanFor("kernel=3 pad=1 stride=2", {1, 1, 5, 7}).columns,
            (std::vector<float>{2, 3, 3, 2}));
  EXPECT_EQ(PlanFor("kernel=3 pad=1 stride=2", {1, 1, 5, 7}, true).columns,
            (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(PlanFor("kernels=3,2", {1, 1, 5, 4}).columns, (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(PlanFor("global_pooling=1", {3, 2, 5, 4}).columns, (std::vector<float>{20}));
  EXPECT_TRUE(PlanFor("kernel=2", {0, 1, 5, 4}).columns.empty());
}

TEST(PoolRunsTest, FollowTheirInputsAndRecoverFromErrors) {
  ExpectRuns("MaxPool X -> Y kernels=2, strides=2, pads=1,0",
             {{"X f 1,1,3 = 1,2,3", "Y f 1,1,2 = 1,3"},
              {"X f 1,2,3 = -1,-2,-3,4,5,3", "Y f 1,2,2 = -1,-2,4,5"},
              {"X f 1,2,1 = 7,8", "Y f 1,2,1 = 7,8"},
              {"X f 1,2", "", "want 1 to 3 axes"},
              {"X f 1,2,1 = 9,8", "Y f 1,2,1 = 9,8"},
              {"X f 0,2,3", "Y f 0,2,2"},
              {"X f 2,1,3 = 1,2,3,6,5,4", "Y f 2,1,2 = 1,3,6,5"}});
  ExpectRuns("AveragePool X -> Y kernel=2 order=NHWC",
             {{"X f 1,2,2,1 = 1,2,3,6", "Y f 1,1,1,1 = 3"},
              {"X f 1,2,2,2 = 1,10,2,20,3,30,6,60", "Y f 1,1,1,2 = 3,30"},
              {"X f 1,1,2,2", "", "want at least its dilated kernel"},
              {"X f 1,2,3,1 = 1,2,3,3,2,1", "Y f 1,1,2,1 = 2,2"}});
  // The scratch memory of the first shape is larger, then smaller.
  ExpectRuns("LpPool X -> Y kernel_h=1 kernel_w=2 p=1.",
             {{"X f 1,2,1,3 = 3,-4,0,1,1,-1", "Y f 1,2,1,2 = 7,4,2,2"},
              {"X f 1,1,1,2 = -1,-2", "Y f 1,1,1,1 = 3"},
              {"X f 1,1,2", "", "kernels"},
              {"X f 1,1,2,4 = 1,2,-3,4,0,-1,0,0", "Y f 1,1,2,3 = 3,5,7,1,1,0"}});
  ExpectRuns("MaxPoolGradient X Y G -> D kernels=2,",
             {{"X f 1,1,3 = 1,2,2; Y f 1,1,2 = 2; G f 1,1,2 = 10,100", "D f 1,1,3 = 0,110,100"},
              {"X f 1,1,4 = 1,2,3,1", "", "input 1 (Y) has shape [1, 1, 2], want [1, 1, 3]"},
              {"Y f 1,1,3 = 2,3,3; G f 1,1,3 = 1,10,100", "D f 1,1,4 = 0,1,110,0"},
              {"X f 1,2,2 = 4,3,1,5; Y f 1,2,1 = 4,5; G f 1,2,1 = 7,8", "D f 1,2,2 = 7,0,0,8"}});
  ExpectRuns("LpPoolGradient X Y G -> D kernel_h=1 kernel_w=2",
             {{"X f 1,1,1,2 = 3,-4; Y f 1,1,1,1 = 5; G f 1,1,1,1 = 10", "D f 1,1,1,2 = 6,-8"},
              {"X f 1,2,1,2 = 3,-4,4,3", "", "input 1 (Y)"},
              {"Y f 1,2,1,1 = 5; G f 1,2,1,1 = 10,5", "D f 1,2,1,2 = 6,-8,4,3"}});
  ExpectRuns("MaxPoolWithIndexGradient X G I -> D kernels=2,",
             {{"X f 1,1,3; G f 1,1,2 = 1,10; I i 1,1,2 = 1,1", "D f 1,1,3 = 0,11,0"},
              {"I i 1,1,2 = 1,3", "", "input 2 (Index) has value 3, want -1 to 2"},
              {"I i 1,1,2 = 0,2", "D f 1,1,3 = 1,0,10"},
              {"X f 1,2,2; G f 1,2,1 = 5,6; I i 1,2,1 = 1,0", "D f 1,2,2 = 0,5,6,0"}});
  ExpectRuns("MaxUnpoolWithIndex X I -> Y height=1 width=3",
             {{"X f 1,1,1,2 = 5,6; I i 1,1,1,2 = 2,0", "Y f 1,1,1,3 = 6,0,5"},
              {"I i 1,1,2,1", "", "input 1 (Index) has shape [1, 1, 2, 1], want that"},
              {"X f 2,1,1,1 = 7,8; I i 2,1,1,1 = 1,2", "Y f 2,1,1,3 = 0,7,0,0,0,8"}});
}

TEST(UnpoolDimsTest, BoundPlanesOfBothTensors) {
  const auto dims = [](int64_t height, int64_t width, const Dims& x) {
    const std::string text =
        MakeString("MaxUnpoolWithIndex X I -> Y height=", height, " width=", width);
    const OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
    return UnpoolDims(ArgumentHelper(def), x);
  };
  EXPECT_EQ(dims(4, 5, {2, 3, 6, 7}), (Dims{2, 3, 4, 5}));
  EXPECT_EQ(dims(1, 2147483647, {1, 1, 2147483647, 1}), (Dims{1, 1, 1, 2147483647}));
  ExpectThrows([&] { (void)dims(1, 2147483648, {1, 1, 1, 1}); }, "has more than 2147483647");
  ExpectThrows(
      [&] {
        (void)dims(1, 1, {1, 1, 2, 1073741824});
      },
      "a plane of 2 x 1073741824 elements has more than 2147483647");
}

}  // namespace
}  // namespace caffe2rt::test::pool_facts_test
