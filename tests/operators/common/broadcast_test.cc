#include "operators/common/broadcast.h"

#include <array>

#include "tests/support/operator_test.h"

namespace caffe2rt::broadcast_test {
namespace {

using Dims = std::vector<int64_t>;

BroadcastArguments Legacy(int axis = -1) {
  BroadcastArguments arguments;
  arguments.legacy = true;
  arguments.axis = axis;
  return arguments;
}

TEST(BroadcastPlanTest, MakesOneLoopOfDimensionsThatMoveAlike) {
  BroadcastPlan plan;
  plan.Make(Dims{2, 3, 1, 4, 5}, Dims{2, 3, 7, 4, 5}, {});
  EXPECT_EQ(plan.output_dims(), (Dims{2, 3, 7, 4, 5}));
  EXPECT_EQ(plan.loops().inner.size, 20);
  EXPECT_EQ(plan.loops().middle.size, 7);
  EXPECT_EQ(plan.loops().middle.a_stride, 0);
  EXPECT_EQ(plan.loops().middle.b_stride, 20);
}

TEST(BroadcastPlanTest, VisitsEveryBlockWithItsOffsets) {
  // With a [2, 1, 3, 1] and b [1, 2, 1, 4] there are four loops. The inner two form one block of
  // 3 * 4 elements.
  BroadcastPlan plan;
  plan.Make(Dims{2, 1, 3, 1}, Dims{1, 2, 1, 4}, {});
  std::vector<std::array<int64_t, 3>> seen;
  plan.loops().ForEachBlock([&](int64_t a, int64_t b, int64_t y) { seen.push_back({a, b, y}); });
  const std::vector<std::array<int64_t, 3>> want = {{0, 0, 0}, {0, 4, 12}, {3, 0, 24}, {3, 4, 36}};
  EXPECT_EQ(seen, want);
}

TEST(BroadcastPlanTest, IsOneElementForScalars) {
  BroadcastPlan plan;
  plan.Make(Dims{}, Dims{}, {});
  EXPECT_EQ(plan.output_size(), 1);
  EXPECT_EQ(plan.loops().inner.size, 1);
}

TEST(BroadcastPlanTest, CountsNoElementsOfAnEmptyShape) {
  BroadcastPlan plan;
  plan.Make(Dims{2, 0}, Dims{2, 1}, {});
  EXPECT_EQ(plan.output_dims(), (Dims{2, 0}));
  EXPECT_EQ(plan.output_size(), 0);
}

TEST(BroadcastPlanTest, RejectsAResultTooLargeToCount) {
  BroadcastPlan plan;
  const int64_t large = int64_t{1} << 40;
  test::ExpectThrows([&] { plan.Make(Dims{large, 1}, Dims{1, large}, {}); }, "size overflow");
}

TEST(BroadcastShapeTest, FollowsTheOlderRulesWhereAsked) {
  EXPECT_EQ(BroadcastShape(Dims{2, 3, 4}, Dims{3}, Legacy(1)), (Dims{2, 3, 4}));
  EXPECT_EQ(BroadcastShape(Dims{2}, Dims{1, 1, 1}, Legacy()), Dims{2});
  test::ExpectThrows(
      [] {
        BroadcastShape(Dims{2, 3, 4}, Dims{3, 1, 4}, Legacy(0));
      },
      "does not fit");
}

TEST(MarkBroadcastDimsTest, MarksWhatTheSecondShapeLacks) {
  std::vector<char> marks;
  MarkBroadcastDims(Dims{2, 3, 4}, Dims{3}, Legacy(1), &marks);
  EXPECT_EQ(marks, (std::vector<char>{1, 0, 1}));
  MarkBroadcastDims(Dims{2, 3, 4}, Dims{1}, Legacy(), &marks);
  EXPECT_EQ(marks, (std::vector<char>{1, 1, 1}));
}

}  // namespace
}  // namespace caffe2rt::broadcast_test
