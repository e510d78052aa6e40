#include "caffe2_core/graph/passes/conv_layouts.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::copies_ideep_test {
namespace {

using namespace test;  // used throughout this file

// 8 significant bits, halves rounded to even.
TEST(OnednnCopiesTest, RoundsToBf16WhereAsked) {
  for (const char* layout : {"", "nchw", "nhwc", "nChw16c"}) {
    for (const bool asked : {false, true}) {
      SCOPED_TRACE(MakeString(layout, " ", asked));
      Workspace ws;
      Feed<float>(&ws, "X", {1, 3, 1, 2}, {1.00390625f, 1.01171875f, -3, 0.1f, 0, 257});
      RunOp(&ws, MakeString(R"(type: "CopyFromCPUInput" input: "X" output: "Y"
                               device_option { device_type: 5 } )",
                            *layout == 0 ? "" : " arg { name: \"layout\" s: \"", layout,
                            *layout == 0 ? "" : "\" }",
                            asked ? R"( arg { name: "output_precision" s: "bf16" })" : ""));
      const Tensor& Y = ws.GetBlob("Y")->Get<Tensor>();
      const bool rounds = asked && WhyNoBf16Convs().empty();
      EXPECT_EQ(IsReduced(Y), rounds);
      const OnednnFormat format = *layout == 0 ? OnednnFormat::kNchw : ParseOnednnFormat(layout);
      const auto element = rounds ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
      EXPECT_TRUE(IsSameMemory(DescOf(Y), DescIn(format, {1, 3, 1, 2}, element)));
      *ws.CreateBlob("y")->GetMutableTensor(CPU) = Tensor(Y, CPU);
      const std::vector<float> exact = {1.00390625f, 1.01171875f, -3, 0.1f, 0, 257};
      const std::vector<float> rounded = {1, 1.015625f, -3, 0.10009765625f, 0, 256};
      ExpectTensor<float>(ws, "y", {1, 3, 1, 2}, rounds ? rounded : exact);
    }
  }
}

// Only images of floats have another layout.
TEST(OnednnCopiesTest, CopyOtherTypesAndRanks) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {1, 2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "V", {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string device = " device_option { device_type: 5 }";
  const std::string layout = " arg { name: 'layout' s: 'nhwc' }" + device;
  for (int run = 0; run < 2; ++run) {
    RunOp(&ws, "type: 'CopyFromCPUInput' input: 'X' output: 'Y'" + layout);
    RunOp(&ws, "type: 'CopyFromCPUInput' input: 'V' output: 'W'" + layout);
  }
  for (const char* name : {"Y", "W"}) {
    EXPECT_EQ(ws.GetBlob(name)->Get<Tensor>().GetDeviceType(), IDEEP);
    EXPECT_EQ(ws.GetBlob(name)->Get<Tensor>().opaque_layout(), nullptr);
  }
  RunOp(&ws, "type: 'EnsureCPUOutput' input: 'Y' output: 'y'" + device);
  RunOp(&ws, "type: 'EnsureCPUOutput' input: 'W' output: 'w'" + device);
  ExpectTensor<int32_t>(ws, "y", {1, 2, 1, 2}, {1, 2, 3, 4});
  ExpectTensor<float>(ws, "w", {2, 3}, {1, 2, 3, 4, 5, 6});
  // A tensor that is on the CPU already is copied.
  RunOp(&ws, "type: 'EnsureCPUOutput' input: 'w' output: 'v'" + device);
  ExpectTensor<float>(ws, "v", {2, 3}, {1, 2, 3, 4, 5, 6});
}

// Also of the same number of elements in another shape.
TEST(OnednnCopiesTest, ReturnTheShapeOfEachRun) {
  Workspace ws;
  const std::string device = " device_option { device_type: 5 }";
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 3, 1, 2}, {1, 3, 2, 1}}) {
    Feed<float>(&ws, "X", dims, {1, 2, 3, 4, 5, 6});
    RunOp(&ws, "type: 'CopyFromCPUInput' input: 'X' output: 'Y' arg { name: 'layout' s: 'nhwc' }" +
                   device);
    RunOp(&ws, "type: 'EnsureCPUOutput' input: 'Y' output: 'y'" + device);
    ExpectTensor<float>(ws, "y", dims, {1, 2, 3, 4, 5, 6});
  }
}

// Bytes come back as the numbers that they stand for.
TEST(OnednnCopiesTest, ReturnTheNumbersOfBytes) {
  for (const OnednnFormat format : {OnednnFormat::kNhwc, OnednnFormat::kBlocked16}) {
    Workspace ws;
    const std::vector<int64_t> dims = {1, 3, 1, 2};
    Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
    const OnednnQuantization bytes{.scale = 0.5f, .zero_point = 10};
    const auto u8 = dnnl::memory::data_type::u8;
    auto* const data = static_cast<uint8_t*>(
        PrepareOutputMemory(x, dims, OnednnLayout::New(DescIn(format, dims, u8), bytes)));
    const int64_t distance = format == OnednnFormat::kNhwc ? 3 : 16;  // of pixels
    const uint8_t values[2][3] = {{10, 12, 0}, {255, 11, 9}};
    for (int64_t p = 0; p < 2; ++p) {
      std::fill_n(data + p * distance, distance, 0);
      std::copy_n(values[p], 3, data + p * distance);
    }
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(
          "type: 'EnsureCPUOutput' input: 'X' output: 'y' device_option { device_type: 5 }")));
      // (q - 10) / 2
      ExpectTensor<float>(ws, "y", dims, {0, 122.5f, 1, 0.5f, -5, -0.5f});
    }
  }
}

}  // namespace
}  // namespace caffe2rt::copies_ideep_test
