#include "operators/conv/onednn_conv_plan.h"

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/conv/conv_fusion_case.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::onednn_conv_plan_test {
namespace {

class OnednnConvPlanTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetNumThreads(GetParam()); }
  void TearDown() override { SetNumThreads(1); }
};

// A plan with one of the choices of layout and algorithm.
struct ForcedChoice {
  const char* name;
  OnednnConvChoice choice;
};
const ForcedChoice kForcedChoices[] = {
    {"direct in NHWC", {}},
    {"direct in blocks", {.source = OnednnFormat::kBlocked16, .result = OnednnFormat::kBlocked16}},
};

// Runs the plan on X of `ws` in layout `from`. Returns false if the choice does not support the
// shape.
bool RunForced(const NaiveImage& p, const OnednnConvChoice& choice, OnednnFormat from,
               Workspace* ws, Tensor* y) {
  const Tensor& plain = ws->GetBlob("X")->Get<Tensor>();
  Tensor x(IDEEP), result(IDEEP);
  const auto layout = OnednnLayout::New(DescIn(from, plain.dims()));
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(),
          DescIn(from, plain.dims()), PrepareOutput(&x, plain.dims(), layout));
  const ConvShape shape = ShapeOf(p, true);
  OnednnConvPlan plan(shape, {}, DescOf(x), {.choices = {choice}});
  if (!plan.supported()) return false;
  float* data = PrepareOutput(&result, {p.batch, p.filters, p.out_h(), p.out_w()}, plan.layout());
  plan.Run(OnednnData(x), ws->GetBlob("W")->Get<Tensor>(),
           ws->GetBlob("b")->Get<Tensor>().data<float>(), data);
  y->CopyFrom(result);
  return true;
}

INSTANTIATE_TEST_SUITE_P(Threads, OnednnConvPlanTest, testing::Values(1, 2, 3));

TEST_P(OnednnConvPlanTest, AgreesWithTheDefinitionForEveryChoiceWithThreads) {
  int supported = 0;
  for (const NaiveImage& p : kImages) {
    if (p.batch == 0) continue;
    Workspace ws;
    const ConvFusionCase expected(&ws, p, {.bias = true});
    for (const ForcedChoice& forced : kForcedChoices) {
      for (const OnednnFormat from :
           {OnednnFormat::kNchw, OnednnFormat::kNhwc, OnednnFormat::kBlocked16}) {
        SCOPED_TRACE(testing::Message() << forced.name << " channels " << p.channels << " filters "
                                        << p.filters << " from " << OnednnFormatName(from));
        if (!RunForced(p, forced.choice, from, &ws, ws.CreateBlob("Y")->GetMutableTensor(CPU)))
          continue;
        ++supported;
        ExpectTensor<float>(ws, "Y", expected.y_dims, expected.want, 2e-4);
      }
    }
  }
  EXPECT_GE(supported, 30);  // at least every image in NHWC
}

TEST(OnednnConvChoiceTest, LimitsTheMemoryOfPreparedFilters) {
  const NaiveImage deep{.batch = 1,
                        .channels = 64,
                        .height = 56,
                        .width = 56,
                        .filters = 64,
                        .kernel_h = 3,
                        .kernel_w = 3,
                        .top = 1,
                        .left = 1,
                        .bottom = 1,
                        .right = 1};
  const ConvShape shape = ShapeOf(deep, false);
  for (const auto format : {OnednnFormat::kBlocked16, OnednnFormat::kNhwc}) {
    EXPECT_TRUE(WinogradPays(shape, format, INT64_MAX));
    EXPECT_TRUE(WinogradPays(shape, format, 36 * 64 * 64 * 4));
    EXPECT_FALSE(WinogradPays(shape, format, 36 * 64 * 64 * 4 - 1));
  }
}

TEST(OnednnConvChoiceTest, UsesWinogradForThreeTapsWithStrideOne) {
  const NaiveImage fits{.batch = 1,
                        .channels = 64,
                        .height = 56,
                        .width = 56,
                        .filters = 64,
                        .kernel_h = 3,
                        .kernel_w = 3};
  const auto pays = [](const NaiveImage& p) {
    return WinogradPays(ShapeOf(p, false), OnednnFormat::kNhwc, INT64_MAX);
  };
  EXPECT_TRUE(pays(fits));
  NaiveImage other = fits;
  other.stride_w = 2;
  EXPECT_FALSE(pays(other));
  other = fits;
  other.dilation_h = 2;
  EXPECT_FALSE(pays(other));
  other = fits;
  other.kernel_h = 5;
  EXPECT_FALSE(pays(other));
  other = fits;
  other.group = 2;
  EXPECT_FALSE(pays(other));
  other = fits;
  other.channels = 60;
  EXPECT_FALSE(pays(other));
}

TEST(OnednnConvChoiceTest, KeepsOddGroupsInNhwc) {
  NaiveImage groups{.batch = 1,
                    .channels = 60,
                    .height = 28,
                    .width = 28,
                    .filters = 60,
                    .kernel_h = 1,
                    .kernel_w = 1,
                    .group = 3};
  const auto choices =
      ChooseOnednnConv(ShapeOf(groups, false), {.format = OnednnFormat::kBlocked16});
  for (const OnednnConvChoice& choice : choices) {
    EXPECT_EQ(choice.result, OnednnFormat::kNhwc);
  }
}

}  // namespace
}  // namespace caffe2rt::test::onednn_conv_plan_test
