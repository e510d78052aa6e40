// Convolutions on IDEEP with precision bf16, against the definition over rounded inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/operators/common/onednn_run.h"
#include "tests/operators/conv/naive_conv.h"

namespace caffe2rt::test::bf16_conv_test {
namespace {

// The nearest float whose lower 16 bits are zero, and of two the one whose bit 16 is even.
float RoundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t below = bits & 0xffffu, down = bits & 0xffff0000u;
  const bool up = below > 0x8000u || (below == 0x8000u && (bits & 0x10000u) != 0);
  const uint32_t rounded = up ? down + 0x10000u : down;
  std::memcpy(&value, &rounded, sizeof(value));
  return value;
}

std::vector<float> Rounded(std::vector<float> values) {
  for (float& value : values) value = RoundToBf16(value);
  return values;
}

struct Bf16Case {
  const char* name;
  NaiveImage image;
  int threads;
  bool float_x = false;  // X is not rounded yet
};

const Bf16Case kCases[] = {
    {"pointwise", {1, 64, 7, 9, 32, 1, 1}, 1},
    {"pointwise on two threads", {1, 64, 25, 33, 64, 1, 1}, 2, true},
    {"window",
     {.batch = 1,
      .channels = 32,
      .height = 9,
      .width = 8,
      .filters = 48,
      .kernel_h = 3,
      .kernel_w = 3,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1},
     1},
    {"window with stride on two threads",
     {.batch = 2,
      .channels = 32,
      .height = 23,
      .width = 22,
      .filters = 64,
      .kernel_h = 3,
      .kernel_w = 3,
      .stride_h = 2,
      .stride_w = 2,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1},
     2,
     true},
    {"channels that fill no block",
     {.batch = 1,
      .channels = 24,
      .height = 11,
      .width = 10,
      .filters = 40,
      .kernel_h = 3,
      .kernel_w = 3},
     1},
    {"an image",
     {.batch = 1,
      .channels = 3,
      .height = 21,
      .width = 20,
      .filters = 32,
      .kernel_h = 7,
      .kernel_w = 7,
      .stride_h = 2,
      .stride_w = 2,
      .top = 3,
      .left = 3,
      .bottom = 3,
      .right = 3},
     1},
    {"depthwise",
     {.batch = 1,
      .channels = 32,
      .height = 14,
      .width = 15,
      .filters = 32,
      .kernel_h = 3,
      .kernel_w = 3,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1,
      .group = 32},
     1},
    {"one pixel", {1, 64, 1, 1, 32, 1, 1}, 1},
    {"one block of filters on two threads", {1, 64, 25, 33, 16, 1, 1}, 2},
    {"a window of one block of filters on two threads",
     {.batch = 1,
      .channels = 32,
      .height = 23,
      .width = 22,
      .filters = 16,
      .kernel_h = 3,
      .kernel_w = 3,
      .stride_h = 2,
      .stride_w = 2,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1},
     2,
     true},
};

std::string OpText(const NaiveImage& p, const std::string& layout, bool sum, bool bf16_result) {
  std::string text = MakeString(
      R"(type: "ConvFusion" input: "X" input: "W" input: "B" output: "Y" arg { name: "activation" s: "Relu" })",
      " arg { name: \"kernel_h\" i: ", p.kernel_h, " } arg { name: \"kernel_w\" i: ", p.kernel_w,
      " } arg { name: \"stride_h\" i: ", p.stride_h, " } arg { name: \"stride_w\" i: ", p.stride_w,
      " } arg { name: \"pad_t\" i: ", p.top, " } arg { name: \"pad_l\" i: ", p.left,
      " } arg { name: \"pad_b\" i: ", p.bottom, " } arg { name: \"pad_r\" i: ", p.right,
      " } arg { name: \"group\" i: ", p.group, " } arg { name: \"layout\" s: \"", layout,
      "\" } arg { name: \"precision\" s: \"bf16\" } arg { name: \"deterministic\" i: 1 }");
  if (bf16_result) text += R"( arg { name: "output_precision" s: "bf16" })";
  if (sum) text += R"( input: "S" arg { name: "sum" i: 1 })";
  return text + " device_option { device_type: 5 }";
}

// In NHWC, of bf16 or of floats.
Tensor PlaceImage(const Tensor& plain, bool bf16) {
  const dnnl::memory::desc desc =
      DescIn(OnednnFormat::kNhwc, plain.dims(),
             bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32);
  Tensor tensor(IDEEP);
  void* const memory = PrepareOutputMemory(&tensor, plain.dims(), OnednnLayout::New(desc));
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(), desc, memory);
  return tensor;
}

class Bf16ConvTest : public testing::TestWithParam<std::tuple<Bf16Case, const char*, bool, bool>> {
 protected:
  void SetUp() override { SetNumThreads(std::get<0>(GetParam()).threads); }
  void TearDown() override { SetNumThreads(1); }
};

TEST_P(Bf16ConvTest, AddsProductsOfRoundedNumbers) {
  const std::string reason = WhyNoBf16Convs();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto& [c, layout, sum, bf16_result] = GetParam();
  const NaiveImage& p = c.image;
  Workspace ws;
  const auto feed = [&](const char* name, const std::vector<int64_t>& dims, uint32_t seed) {
    const Tensor* plain = FeedRandom(&ws, name, dims, -1, 1, seed);
    return std::vector<float>(plain->data<float>(), plain->data<float>() + plain->numel());
  };
  const std::vector<int64_t> y_dims{p.batch, p.filters, p.out_h(), p.out_w()};
  const std::vector<float> x = feed("x", {p.batch, p.channels, p.height, p.width}, 1);
  const std::vector<float> w =
      feed("W", {p.filters, p.channels / p.group, p.kernel_h, p.kernel_w}, 2);
  const std::vector<float> b = feed("B", {p.filters}, 3);
  const std::vector<float> s = feed("s", y_dims, 4);
  *ws.CreateBlob("X")->GetMutableTensor(IDEEP) =
      PlaceImage(ws.GetBlob("x")->Get<Tensor>(), !c.float_x);
  *ws.CreateBlob("S")->GetMutableTensor(IDEEP) = PlaceImage(ws.GetBlob("s")->Get<Tensor>(), false);
  std::vector<float> want = NaiveConv(p, Rounded(x), Rounded(w), b);
  for (size_t i = 0; i < want.size(); ++i) {
    // The tensor that is added has the element type of Y.
    if (sum) want[i] += bf16_result ? RoundToBf16(s[i]) : s[i];
    want[i] = std::max(want[i], 0.0f);
  }
  for (int run = 0; run < 2; ++run) RunOp(&ws, OpText(p, layout, sum, bf16_result));
  const Tensor& Y = ws.GetBlob("Y")->Get<Tensor>();
  EXPECT_EQ(IsReduced(Y), bf16_result);
  const Tensor y(Y, CPU);
  ASSERT_EQ(y.dims(), y_dims);
  float largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    // Sums of floats, and half a unit of the last of 8 bits.
    const float tolerance = 1e-4f + (bf16_result ? want[i] / 256 : 0);
    ASSERT_NEAR(y.data<float>()[i], want[i], tolerance) << i;
    largest = std::max(largest, std::abs(want[i] - RoundToBf16(want[i])));
  }
  EXPECT_GT(largest, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Bf16ConvTest,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values("nhwc", "nChw16c"), testing::Bool(),
                                          testing::Bool()));

TEST(Bf16PrecisionTest, IsRejectedUnderOtherNames) {
  Workspace ws;
  FeedRandom(&ws, "x", {1, 16, 3, 3}, -1, 1, 1);
  FeedRandom(&ws, "W", {16, 16, 1, 1}, -1, 1, 2);
  ws.CreateBlob("X")->GetMutableTensor(IDEEP)->CopyFrom(ws.GetBlob("x")->Get<Tensor>());
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 1 }
                      arg { name: "precision" s: "half" } device_option { device_type: 5 })");
      },
      "want f32, bf16 or int8");
}

}  // namespace
}  // namespace caffe2rt::test::bf16_conv_test
