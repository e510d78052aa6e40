#include "operators/conv/onednn_conv_plan.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/onednn_layouts.h"
#include "tests/operators/conv/conv_fusion_case.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::onednn_conv_plan_test {
namespace {

class OnednnConvPlanTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetNumThreads(GetParam()); }
  void TearDown() override { SetNumThreads(1); }
};

struct NamedLayouts {
  const char* name;
  OnednnConvLayouts layouts;
};
const NamedLayouts kLayouts[] = {
    {"direct in NHWC", {}},
    {"direct in blocks", {.source = OnednnFormat::kBlocked16, .result = OnednnFormat::kBlocked16}},
};

// Runs the plan on X of `ws` in layout `from`. Returns false if oneDNN does not support the shape in
// these layouts.
bool RunPlan(const NaiveImage& p, const OnednnConvLayouts& layouts, OnednnFormat from,
             Workspace* ws, Tensor* y, size_t* pieces = nullptr) {
  const Tensor& plain = ws->GetBlob("X")->Get<Tensor>();
  Tensor x(IDEEP), result(IDEEP);
  const auto layout = OnednnLayout::New(DescIn(from, plain.dims()));
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(),
          DescIn(from, plain.dims()), PrepareOutput(&x, plain.dims(), layout));
  const ConvShape shape = ShapeOf(p, true);
  OnednnConvPlan plan(shape, {}, DescOf(x), layouts);
  if (!plan.supported()) return false;
  if (pieces != nullptr) *pieces = plan.pieces();
  float* data = PrepareOutput(&result, {p.batch, p.filters, p.out_h(), p.out_w()}, plan.layout());
  plan.Run(x, ws->GetBlob("W")->Get<Tensor>(),
           ws->GetBlob("b")->Get<Tensor>().data<float>(), data);
  y->CopyFrom(result);
  return true;
}

TEST(OnednnLayoutsTest, DimsAreThoseOfTheFieldThatIsAskedFor) {
  ConvShape shape;
  shape.window.axes = 2;
  shape.window.batch = 2;
  shape.window.axis[0] = {.in = 9, .out = 4, .kernel = 3, .stride = 2};
  shape.window.axis[1] = {.in = 8, .out = 7, .kernel = 2, .stride = 1};
  using Dims = dnnl::memory::dims;
  EXPECT_EQ(DataDims(shape, 5, &WindowAxis::in), (Dims{2, 5, 9, 8}));
  EXPECT_EQ(DataDims(shape, 6, &WindowAxis::out), (Dims{2, 6, 4, 7}));
  EXPECT_EQ(SpatialDims(shape, &WindowAxis::stride), (Dims{2, 1}));
}

INSTANTIATE_TEST_SUITE_P(Threads, OnednnConvPlanTest, testing::Values(1, 2, 3));

TEST_P(OnednnConvPlanTest, AgreesWithTheDefinitionInEveryLayoutWithThreads) {
  int supported = 0;
  for (const NaiveImage& p : kImages) {
    if (p.batch == 0) continue;
    Workspace ws;
    const ConvFusionCase expected(&ws, p, {.bias = true});
    for (const NamedLayouts& named : kLayouts) {
      for (const OnednnFormat from :
           {OnednnFormat::kNchw, OnednnFormat::kNhwc, OnednnFormat::kBlocked16}) {
        SCOPED_TRACE(testing::Message() << named.name << " channels " << p.channels << " filters "
                                        << p.filters << " from " << OnednnFormatName(from));
        if (!RunPlan(p, named.layouts, from, &ws, ws.CreateBlob("Y")->GetMutableTensor(CPU)))
          continue;
        ++supported;
        ExpectTensor<float>(ws, "Y", expected.y_dims, expected.want, 2e-4);
      }
    }
  }
  EXPECT_GE(supported, 30);  // at least every image in NHWC
}

// In blocks, groups are divided among threads only if they read as many channels as they write.
TEST_P(OnednnConvPlanTest, DividesGroupsOfEqualWidthsAmongThreads) {
  const struct {
    int64_t channels, filters, group;
    size_t parts;
  } rows[] = {{64, 64, 2, 2},  {64, 64, 4, 4},  {96, 96, 3, 3},  {64, 128, 2, 1},
              {128, 64, 2, 1}, {64, 128, 4, 1}, {128, 64, 4, 1}, {32, 96, 2, 1}};
  int supported = 0;
  for (const auto& row : rows) {
    const NaiveImage p = {.batch = 1,
                          .channels = row.channels,
                          .height = 14,
                          .width = 15,
                          .filters = row.filters,
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .top = 1,
                          .left = 1,
                          .group = row.group};
    Workspace ws;
    const ConvFusionCase expected(&ws, p, {.bias = true});
    for (const OnednnFormat from : {OnednnFormat::kNchw, OnednnFormat::kBlocked16}) {
      SCOPED_TRACE(testing::Message() << row.channels << " to " << row.filters << " in "
                                      << row.group << " from " << OnednnFormatName(from));
      size_t pieces = 0;
      if (!RunPlan(p, kLayouts[1].layouts, from, &ws, ws.CreateBlob("Y")->GetMutableTensor(CPU),
                   &pieces))
        continue;
      ++supported;
      EXPECT_EQ(pieces, std::min(row.parts, static_cast<size_t>(GetParam())));
      ExpectTensor<float>(ws, "Y", expected.y_dims, expected.want, 2e-4);
    }
  }
  if (CpuIsa() == Isa::kAvx512) EXPECT_GE(supported, 8);
}

}  // namespace
}  // namespace caffe2rt::test::onednn_conv_plan_test
