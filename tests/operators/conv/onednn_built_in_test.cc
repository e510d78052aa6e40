// Each kernel on the images that it supports, whatever the instruction set and the estimates prefer.
#include "operators/conv/onednn_built_in.h"

#include <functional>

#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/ideep_conv.h"
#include "tests/operators/conv/conv_fusion_case.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::onednn_built_in_test {
namespace {

using Factory = std::function<std::unique_ptr<BuiltInConv>(const ConvShape&, const ConvEpilogue&,
                                                           const Tensor&, OnednnFormat)>;
struct Kernel {
  const char* name;
  Factory make;
  int images;       // of kImages that it supports
  int activations;  // of the four below
  bool sum;
};
const Kernel kKernels[] = {
    {"depthwise", NewOnednnDepthwise, 2, 3, false},
    {"Winograd", NewOnednnWinograd, 2, 3, true},
    {"pointwise",
     [](const ConvShape& shape, const ConvEpilogue& epilogue, const Tensor& X, OnednnFormat) {
       return NewOnednnPointwise(shape, epilogue, X);
     },
     4, 4, true},
};

ConvEpilogue EpilogueOf(const Fusion& fusion) {
  return ReadConvEpilogue(ArgumentHelper(ParseOp("type: \"ConvFusion\" " + FusionText(fusion))));
}

void CopyTo(const OnednnFormat format, const Tensor& plain, Tensor* to) {
  const dnnl::memory::desc desc = DescIn(format, plain.dims());
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(), desc,
          PrepareOutput(to, plain.dims(), OnednnLayout::New(desc)));
}

// Returns false if the kernel does not support the convolution.
bool ExpectDefinition(const Kernel& kernel, const NaiveImage& p, const Fusion& fusion,
                      OnednnFormat from, OnednnFormat format) {
  Workspace ws;
  const ConvFusionCase expected(&ws, p, fusion);
  Tensor x(IDEEP), y(IDEEP);
  CopyTo(from, ws.GetBlob("X")->Get<Tensor>(), &x);
  const auto conv = kernel.make(ShapeOf(p, fusion.bias), EpilogueOf(fusion), x, format);
  if (conv == nullptr) return false;
  const Tensor& filter = ws.GetBlob("W")->Get<Tensor>();
  const Tensor& s = ws.GetBlob("S")->Get<Tensor>();
  const float* const bias = fusion.bias ? ws.GetBlob("b")->Get<Tensor>().data<float>() : nullptr;
  for (int run = 0; run < 2; ++run) {
    float* const to = PrepareOutput(&y, expected.y_dims, conv->layout());
    if (fusion.sum) {
      Reorder(DescIn(OnednnFormat::kNchw, s.dims()), s.data<float>(), conv->result(), to);
    }
    conv->Run(x, filter, bias, to);
    ws.CreateBlob("Y")->GetMutableTensor(CPU)->CopyFrom(y);
    ExpectTensor<float>(ws, "Y", expected.y_dims, expected.want, 2e-4);
  }
  return true;
}

class BuiltInConvTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetNumThreads(GetParam()); }
  void TearDown() override { SetNumThreads(1); }
};

TEST_P(BuiltInConvTest, AgreesWithTheDefinitionInEveryLayoutWithThreads) {
  for (const Kernel& kernel : kKernels) {
    int supported = 0;
    for (const NaiveImage& p : kImages) {
      if (p.batch == 0) continue;
      SCOPED_TRACE(testing::Message() << kernel.name << " channels " << p.channels << " filters "
                                      << p.filters << " group " << p.group);
      const Fusion fusion{.activation = "Relu", .bias = true, .sum = kernel.sum};
      if (!ExpectDefinition(kernel, p, fusion, OnednnFormat::kNhwc, OnednnFormat::kNhwc)) continue;
      ++supported;
      for (const auto from : {OnednnFormat::kNchw, OnednnFormat::kBlocked16}) {
        ExpectDefinition(kernel, p, fusion, from, OnednnFormat::kBlocked16);
      }
      if (HasFailure()) return;
    }
    EXPECT_EQ(supported, kernel.images) << kernel.name;
  }
}

TEST_P(BuiltInConvTest, AppliesActivationsWithThreads) {
  for (const Kernel& kernel : kKernels) {
    for (const NaiveImage& p : kImages) {
      if (p.batch == 0) continue;
      int supported = 0;
      for (const char* type : {"", "Relu", "Clip", "Elu"}) {
        SCOPED_TRACE(testing::Message() << kernel.name << " " << type);
        supported += ExpectDefinition(kernel, p, {.activation = type}, OnednnFormat::kNhwc,
                                      OnednnFormat::kNhwc);
      }
      EXPECT_TRUE(supported == 0 || supported == kernel.activations) << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, BuiltInConvTest, testing::Values(1, 2, 3));

// Operators that follow cannot use blocks with channels that are none.
TEST(BuiltInConvFormatTest, DepthwiseKeepsBlocksOfWholeChannelsAlone) {
  for (const int64_t channels : {16, 20, 24, 32}) {
    SCOPED_TRACE(channels);
    const NaiveImage p{.batch = 1,
                       .channels = channels,
                       .height = 5,
                       .width = 6,
                       .filters = channels,
                       .kernel_h = 3,
                       .kernel_w = 3,
                       .top = 1,
                       .left = 1,
                       .bottom = 1,
                       .right = 1,
                       .group = channels};
    Workspace ws;
    const ConvFusionCase expected(&ws, p, {});
    Tensor x(IDEEP), y(IDEEP);
    CopyTo(OnednnFormat::kBlocked16, ws.GetBlob("X")->Get<Tensor>(), &x);
    const auto conv = NewOnednnDepthwise(ShapeOf(p, false), {}, x, OnednnFormat::kBlocked16);
    ASSERT_NE(conv, nullptr);
    EXPECT_EQ(conv->result(),
              DescIn(channels % 16 == 0 ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc,
                     expected.y_dims));
    conv->Run(x, ws.GetBlob("W")->Get<Tensor>(), nullptr,
              PrepareOutput(&y, expected.y_dims, conv->layout()));
    ws.CreateBlob("Y")->GetMutableTensor(CPU)->CopyFrom(y);
    ExpectTensor<float>(ws, "Y", expected.y_dims, expected.want, 2e-4);
  }
}

TEST(BuiltInConvFilterTest, FollowsChangesOfTheFilter) {
  for (const Kernel& kernel : kKernels) {
    for (const NaiveImage& p : kImages) {
      if (p.batch == 0) continue;
      Workspace ws;
      const ConvFusionCase expected(&ws, p, {});
      Tensor x(IDEEP), y(IDEEP);
      CopyTo(OnednnFormat::kNhwc, ws.GetBlob("X")->Get<Tensor>(), &x);
      const auto conv = kernel.make(ShapeOf(p, false), {}, x, OnednnFormat::kNhwc);
      if (conv == nullptr) continue;
      Tensor* const filter = ws.GetBlob("W")->GetMutable<Tensor>();
      for (const float factor : {1.0f, -2.0f, 0.5f}) {
        float* const w = filter->mutable_data<float>();
        for (int64_t i = 0; i < filter->numel(); ++i) w[i] *= factor;
        conv->Run(x, *filter, nullptr, PrepareOutput(&y, expected.y_dims, conv->layout()));
      }
      // The factors multiply to -1.
      std::vector<float> want = expected.want;
      for (float& value : want) value = -value;
      ws.CreateBlob("Y")->GetMutableTensor(CPU)->CopyFrom(y);
      ExpectTensor<float>(ws, "Y", expected.y_dims, want, 2e-4);
    }
  }
}

TEST(WinogradFitsTest, NeedsNineNeighbouringTapsInBothAxes) {
  ConvShape shape;
  shape.group = 1;
  shape.window.channels = shape.out_channels = 32;
  shape.window.axes = 2;
  const auto reset = [&] {
    for (size_t i = 0; i < 2; ++i) {
      WindowAxis& axis = shape.window.axis[i];
      axis.kernel = 3;
      axis.stride = axis.dilation = 1;
    }
  };
  const ConvOnIdeep plain = {OnednnFormat::kNhwc, ConvEpilogue().activation, false};
  reset();
  EXPECT_TRUE(WinogradFits(shape, plain));
  for (int64_t WindowAxis::*const field :
       {&WindowAxis::kernel, &WindowAxis::stride, &WindowAxis::dilation}) {
    for (size_t i = 0; i < 2; ++i) {
      reset();
      shape.window.axis[i].*field = 2;
      EXPECT_FALSE(WinogradFits(shape, plain)) << i;
    }
  }
  reset();
  shape.group = 2;
  EXPECT_FALSE(WinogradFits(shape, plain));
}

}  // namespace
}  // namespace caffe2rt::test::onednn_built_in_test
