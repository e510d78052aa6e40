#include "operators/math/reductions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::math::reductions_test {
namespace {

using ::testing::ElementsAre;

TEST(ReductionsTest, ReducesVectorsToOneValue) {
  CPUContext context;
  const float x[] = {3, -1, 2};
  float y = 0;
  Sum<float, CPUContext>(3, x, &y, &context);
  EXPECT_EQ(y, 4);
  SumSqr<float, CPUContext>(3, x, &y, &context);
  EXPECT_EQ(y, 14);
  Dot<float, CPUContext>(3, x, x, &y, &context);
  EXPECT_EQ(y, 14);
  ReduceMin<float, CPUContext>(3, x, &y, nullptr, &context);
  EXPECT_EQ(y, -1);
  ReduceMax<float, CPUContext>(3, x, &y, nullptr, &context);
  EXPECT_EQ(y, 3);
  EXPECT_THROW((ReduceMax<float, CPUContext>(0, x, &y, nullptr, &context)), EnforceNotMet);
}

TEST(ReductionsTest, ReducesRowsAndColumns) {
  CPUContext context;
  const float x[] = {1, 5, 3, 4, 2, 6};
  std::array<float, 2> rows;
  std::array<float, 3> columns;
  RowwiseMax<float, CPUContext>(2, 3, x, rows.data(), &context);
  EXPECT_THAT(rows, ElementsAre(5, 6));
  ColwiseMax<float, CPUContext>(2, 3, x, columns.data(), &context);
  EXPECT_THAT(columns, ElementsAre(4, 5, 6));
  const int idx[] = {1, 2}, bad[] = {0, 3};
  Select<float, CPUContext>(2, 3, x, idx, rows.data(), &context);
  EXPECT_THAT(rows, ElementsAre(5, 6));
  EXPECT_THROW((Select<float, CPUContext>(2, 3, x, bad, rows.data(), &context)), EnforceNotMet);
  columns = {0, 0, 0};
  AddStripedBatch<float, CPUContext>(3, x, columns.data(), 3, 2, &context);
  EXPECT_THAT(columns, ElementsAre(5, 7, 9));
  // The rows may be further apart than they are long.
  columns = {1, 1, 1};
  AddStripedBatch<float, CPUContext>(2, x, columns.data(), 3, 2, &context);
  EXPECT_THAT(columns, ElementsAre(6, 8, 1));
  columns = {1, 1, 1};
  AddStripedBatch<float, CPUContext>(1, x, columns.data(), 2, 3, &context);
  EXPECT_THAT(columns, ElementsAre(7, 1, 1));
}

TEST(ReductionsTest, ReducesOverAxes) {
  CPUContext context;
  const float x[] = {1, -2, 3, 4, 5, -6};
  const int x_dims[] = {2, 3}, over_rows[] = {1, 3}, over_columns[] = {2, 1};
  std::array<float, 3> y;
  ReduceSum<float, CPUContext>(2, x_dims, over_rows, 2, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(10, 6, -6));
  ReduceMean<float, CPUContext>(2, x_dims, over_rows, 1, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(2.5f, 1.5f, -1.5f));
  std::array<float, 2> z;
  ReduceL1<float, CPUContext>(2, x_dims, over_columns, 1, x, z.data(), &context);
  EXPECT_THAT(z, ElementsAre(6, 15));
  ReduceMax<float, CPUContext>(2, x_dims, over_columns, 1, x, z.data(), &context);
  EXPECT_THAT(z, ElementsAre(3, 5));
  ReduceMin<float, CPUContext>(2, x_dims, over_columns, 1, x, z.data(), &context);
  EXPECT_THAT(z, ElementsAre(-2, -6));
  const float v[] = {3, 4};
  const int v_dims[] = {2}, one[] = {1};
  ReduceL2<float, CPUContext>(1, v_dims, one, 1, v, z.data(), &context);
  EXPECT_EQ(z[0], 5);
}

TEST(ReductionsTest, GivesMeanAndBiasedVariance) {
  CPUContext context;
  const float x[] = {1, 3, 2, 2};
  const int x_dims[] = {2, 2}, y_dims[] = {2, 1};
  std::array<float, 2> mean, var;
  Moments<float, CPUContext>(2, x_dims, y_dims, x, mean.data(), var.data(), &context);
  EXPECT_THAT(mean, ElementsAre(2, 2));
  EXPECT_THAT(var, ElementsAre(1, 0));
}

TEST(ReductionsTest, RepeatsAlongAxes) {
  CPUContext context;
  const float x[] = {1, 2};
  const int x_dims[] = {2, 1}, y_dims[] = {2, 2};
  std::array<float, 4> y;
  Broadcast<float, CPUContext>(2, x_dims, 2, y_dims, 10, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(10, 10, 20, 20));
}

}  // namespace
}  // namespace caffe2rt::math::reductions_test
