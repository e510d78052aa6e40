// How plans of convolutions divide their work, and that each part reads and writes its own data.
#include "operators/conv/conv_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/work_scope.h"
#include "operators/conv/conv_tuning.h"
#include "tests/operators/conv/conv_combinations.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_plan_test {
namespace {

struct PlanRow {
  const char* name;
  NaiveImage image;
  int64_t parts;  // into which work can be divided
};

// More than 10^6 multiply-adds each. Blocks of output channels have 16 of them.
const PlanRow kPlanRows[] = {
    {"images", {3, 8, 20, 19, 20, 3, 3}, 3},
    {"images in NHWC",
     {.batch = 5,
      .channels = 10,
      .height = 14,
      .width = 13,
      .filters = 20,
      .kernel_h = 3,
      .kernel_w = 3,
      .channels_last = true},
     5},
    {"images of groups",
     {.batch = 2,
      .channels = 16,
      .height = 20,
      .width = 19,
      .filters = 24,
      .kernel_h = 3,
      .kernel_w = 3,
      .group = 2},
     2},
    {"output channels", {1, 16, 20, 19, 40, 3, 3}, 3},
    {"output channels of a pointwise one", {1, 60, 20, 19, 50, 1, 1}, 4},
    {"one block of output channels", {1, 32, 20, 19, 16, 3, 3}, 1},
    {"one image in NHWC",
     {.batch = 1,
      .channels = 16,
      .height = 20,
      .width = 19,
      .filters = 40,
      .kernel_h = 3,
      .kernel_w = 3,
      .channels_last = true},
     1},
    {"one image of groups",
     {.batch = 1,
      .channels = 32,
      .height = 20,
      .width = 19,
      .filters = 64,
      .kernel_h = 3,
      .kernel_w = 3,
      .group = 2},
     1},
    {"too little work", {2, 4, 8, 8, 33, 3, 3}, 1},
};

Tensor FilterOf(const NaiveImage& p) {
  const auto values =
      RandomValues(p.filters * p.channels / p.group * p.kernel_h * p.kernel_w, -1, 1, 2);
  Tensor filter(CPU);
  filter.Resize(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), filter.mutable_data<float>());
  return filter;
}

TEST(ConvPlanTest, PartsReadAndWriteTheirOwnDataWithBuiltInAlgorithms) {
  int divided = 0, whole = 0;
  for (const PlanRow& row : kPlanRows) {
    const NaiveImage& p = row.image;
    const ConvShape shape = ShapeOf(p, true);
    const auto x = RandomValues(p.batch * p.channels * p.height * p.width, -1, 1, 1);
    const auto bias = RandomValues(p.filters, -1, 1, 3);
    const Tensor filter = FilterOf(p);
    const float* const f = filter.data<float>();
    const std::vector<float> want =
        NaiveConv(p, x, std::vector<float>(f, f + filter.numel()), bias);
    for (const int threads : {2, 3, 4}) {
      const ThreadsOfTest pool(threads);
      for (const ConvAlgorithm algorithm : {ConvAlgorithm::kIm2Col, ConvAlgorithm::kGemm,
                                            ConvAlgorithm::kPixels, ConvAlgorithm::kChannels}) {
        const ConvTuning tuning(ConvTuningLine(
            {.isa = CpuIsa(), .shape = shape, .algorithm = algorithm, .microseconds = 1}));
        const WorkScope scope({.conv_tuning = &tuning});
        ConvPlan plan(shape, {});
        if (plan.algorithm() != algorithm) continue;
        SCOPED_TRACE(MakeString(row.name, ", ", ConvAlgorithmName(algorithm), ", ", threads));
        const bool cuts_itself =
            algorithm == ConvAlgorithm::kPixels || algorithm == ConvAlgorithm::kChannels;
        const int64_t pieces = cuts_itself ? 1 : std::min<int64_t>(threads, row.parts);
        EXPECT_EQ(plan.pieces(), static_cast<size_t>(pieces));
        (pieces > 1 ? divided : whole) += 1;
        std::vector<float> y(want.size(), -77.f);
        plan.Run(x.data(), filter, bias.data(), y.data());
        EXPECT_LT(LargestDifference(y, want), 1e-4f);
      }
    }
  }
  EXPECT_GT(divided, 10);
  EXPECT_GT(whole, 10);
}

TEST(ConvPlanTest, DoesNothingWithoutOutputs) {
  for (const NaiveImage& p : {NaiveImage{0, 2, 4, 4, 3, 3, 3}, NaiveImage{1, 2, 4, 4, 0, 3, 3}}) {
    ConvPlan plan(ShapeOf(p, false), {});
    EXPECT_EQ(plan.pieces(), 0u);
    EXPECT_EQ(plan.ScratchBytes(), 0);
    EXPECT_EQ(plan.PreparedBytes(), 0);
    float y = 5;
    plan.Run(nullptr, FilterOf(p), nullptr, &y);
    EXPECT_EQ(y, 5);
  }
}

// Preparing a filter may take more scratch memory than a run.
TEST(ConvPlanTest, CountsTheScratchMemoryOfPreparations) {
  int larger = 0;
  for (const NaiveImage& p :
       {NaiveImage{1, 64, 4, 4, 64, 3, 3}, NaiveImage{2, 24, 5, 4, 40, 3, 3},
        NaiveImage{1, 17, 3, 3, 33, 3, 3}, NaiveImage{1, 32, 6, 6, 32, 1, 1}}) {
    const ConvShape shape = ShapeOf(p, false);
    for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
      const ConvTuning tuning(ConvTuningLine(
          {.isa = CpuIsa(), .shape = shape, .algorithm = algorithm, .microseconds = 1}));
      const WorkScope scope({.conv_tuning = &tuning});
      const ConvPlan plan(shape, {});
      if (plan.algorithm() != algorithm) continue;
      SCOPED_TRACE(ConvAlgorithmName(algorithm));
      const auto kernel = NewConvKernel(algorithm, shape);
      ASSERT_NE(kernel, nullptr);
      const int64_t run = kernel->ScratchSize(), preparation = kernel->PreparationSize();
      EXPECT_EQ(plan.ScratchBytes(), 4 * std::max(run, preparation));
      larger += preparation > run ? 1 : 0;
    }
  }
  if (CpuIsa() == Isa::kAvx512) EXPECT_GT(larger, 0);
}

TEST(PiecesOfConvTest, FollowThreadsFromAMillionMultiplyAddsOn) {
  const ThreadsOfTest pool(3);
  const ConvShape exact = ShapeOf({1, 100, 10, 10, 100, 1, 1}, false);
  EXPECT_EQ(exact.MultiplyAdds(), 1e6);
  EXPECT_EQ(PiecesOfConv(exact, false), 3);
  EXPECT_EQ(PiecesOfConv(exact, true), 4);
  const ConvShape less = ShapeOf({1, 100, 10, 10, 99, 1, 1}, false);
  EXPECT_EQ(PiecesOfConv(less, false), 1);
  EXPECT_EQ(PiecesOfConv(less, true), 1);
}

}  // namespace
}  // namespace caffe2rt::test::conv_plan_test
