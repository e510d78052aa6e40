// Pools on IDEEP of tensors of bytes with a scale: what is kept in bytes, and with which scale.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/onednn/onednn_tensor.h"
#include "contexts/onednn/onednn_version.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::bytes_pool_ideep_test {
namespace {

using namespace test;  // used throughout this file

using PoolDims = std::vector<int64_t>;  // [N, C, H, W]

// Bytes from 0 to 250 in NHWC, and the numbers that they stand for on the CPU, both named "X".
void FeedPoolBytes(const PoolDims& dims, const OnednnQuantization& quantization, Workspace* cpu,
                   Workspace* onednn) {
  Tensor* const tensor = onednn->CreateBlob("X")->GetMutableTensor(IDEEP);
  auto* const bytes = static_cast<uint8_t*>(PrepareOutputMemory(
      tensor, dims,
      OnednnLayout::New(DescIn(OnednnFormat::kNhwc, dims, dnnl::memory::data_type::u8),
                        quantization)));
  Tensor* const plain = FeedRange<float>(cpu, "X", dims);
  const int64_t channels = dims[1], pixels = dims[2] * dims[3];
  for (int64_t i = 0; i < plain->numel(); ++i) {
    const auto byte = static_cast<uint8_t>(i * 37 % 251);
    const int64_t n = i / pixels / channels, c = i / pixels % channels;
    bytes[(n * pixels + i % pixels) * channels + c] = byte;
    plain->mutable_data<float>()[i] =
        static_cast<float>(byte - quantization.zero_point) * quantization.scale;
  }
}

OperatorDef PoolOnIdeep(const std::string& text) {
  OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
  def.mutable_device_option()->set_device_type(PROTO_IDEEP);
  return def;
}

struct KeptPoolRow {
  const char* op;
  OnednnQuantization result;  // of Y
};

// X has the scale 0.5 and the zero point 100.
constexpr OnednnQuantization kBytesOfX{.scale = 0.5f, .zero_point = 100};
const KeptPoolRow kKeptPools[] = {
    {"MaxPool X -> Y kernel=2 stride=2 output_precision=int8", kBytesOfX},
    {"MaxPool X -> Y kernel=3 pad=1 output_precision=int8", kBytesOfX},
    {"MaxPool X -> Y global_pooling=1 output_precision=int8", kBytesOfX},
    {"AveragePool X -> Y kernel=2 output_precision=int8", kBytesOfX},
    {"AveragePool X -> Y kernel=3 pad=1 stride=2 count_include_pad=1 output_precision=int8",
     kBytesOfX},
    {"AveragePool X -> Y kernel=3 pad=1 stride=2 output_precision=int8", kBytesOfX},
    // Bytes of the range: 255 steps from -51 to 76.5, of which 0 is step 102.
    {"AveragePool X -> Y kernel=2 output_precision=int8 pooled_min=-51. pooled_max=76.5",
     {.scale = 0.5f, .zero_point = 102}},
    {"AveragePool X -> Y global_pooling=1 output_precision=int8 pooled_min=0. pooled_max=51.",
     {.scale = 0.2f, .zero_point = 0}},
    // What is no range has no effect.
    {"AveragePool X -> Y kernel=2 output_precision=int8 pooled_min=9. pooled_max=9.", kBytesOfX},
    {"AveragePool X -> Y kernel=2 output_precision=int8 pooled_min=9. pooled_max=-9.", kBytesOfX},
};

void ExpectKept(const KeptPoolRow& row, const Workspace& cpu, const Workspace& onednn) {
  const Tensor& y = onednn.GetBlob("Y")->Get<Tensor>();
  ASSERT_TRUE(IsQuantized(y));
  const auto& layout = static_cast<const OnednnLayout&>(*y.opaque_layout());
  EXPECT_EQ(layout.format(), FormatOf(DescIn(OnednnFormat::kNhwc, y.dims())));
  EXPECT_FLOAT_EQ(layout.quantization().scale, row.result.scale);
  EXPECT_EQ(layout.quantization().zero_point, row.result.zero_point);
  Tensor plain(CPU);
  plain.CopyFrom(y);
  const Tensor& want = cpu.GetBlob("Y")->Get<Tensor>();
  ASSERT_EQ(plain.dims(), want.dims());
  const float lowest = static_cast<float>(-row.result.zero_point) * row.result.scale;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const float exact = std::max(want.data<float>()[i], lowest);
    ASSERT_NEAR(plain.data<float>()[i], exact, row.result.scale * 0.5001f) << i;
  }
}

TEST(BytesPoolTest, KeepsBytesInTheScaleOfXOrOfARange) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  for (const KeptPoolRow& row : kKeptPools) {
    SCOPED_TRACE(row.op);
    Workspace cpu, onednn;
    FeedPoolBytes({2, 3, 6, 5}, kBytesOfX, &cpu, &onednn);
    RunOp(&cpu, OperatorsOf({row.op, ""})[0]);
    const auto op = CreateOperator(PoolOnIdeep(row.op), &onednn);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(op->Run());
      ExpectKept(row, cpu, onednn);
    }
  }
}

TEST(BytesPoolTest, WidensBytesThatAreNotKept) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  for (const char* const type : {"MaxPool", "AveragePool"}) {
    for (const char* const precision : {"", " output_precision=f32", " output_precision=bf16"}) {
      for (const char* const window : {" kernel=3 stride=2 pad=1", " global_pooling=1"}) {
        const std::string text = MakeString(type, " X -> Y", window, precision);
        SCOPED_TRACE(text);
        Workspace cpu, onednn;
        FeedPoolBytes({1, 5, 4, 7}, kBytesOfX, &cpu, &onednn);
        RunOp(&cpu, OperatorsOf({text.c_str(), ""})[0]);
        ASSERT_TRUE(onednn.RunOperatorOnce(PoolOnIdeep(text)));
        const Tensor& y = onednn.GetBlob("Y")->Get<Tensor>();
        EXPECT_FALSE(IsReduced(y));
        Tensor plain(CPU);
        plain.CopyFrom(y);
        const float* const values = plain.data<float>();
        ExpectTensor<float>(cpu, "Y", plain.dims(), {values, values + plain.numel()}, 1e-5);
      }
    }
  }
}

// The second and later runs have the bytes, the scale and the shape of their own X.
TEST(BytesPoolTest, FollowsTheScaleAndTheShapeOfX) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  const struct {
    PoolDims dims;
    OnednnQuantization quantization;
  } runs[] = {{{1, 3, 4, 5}, kBytesOfX},
              {{1, 3, 4, 5}, {.scale = 0.25f, .zero_point = 100}},
              {{1, 3, 4, 5}, {.scale = 0.25f, .zero_point = 7}},
              {{3, 20, 2, 4}, {.scale = 0.25f, .zero_point = 7}},
              {{1, 3, 4, 5}, kBytesOfX}};
  for (const char* const text : {"MaxPool X -> Y kernel=2 output_precision=int8",
                                 "AveragePool X -> Y kernel=2 output_precision=int8"}) {
    SCOPED_TRACE(text);
    Workspace cpu, onednn;
    FeedPoolBytes(runs[0].dims, runs[0].quantization, &cpu, &onednn);
    const auto op = CreateOperator(PoolOnIdeep(text), &onednn);
    for (const auto& run : runs) {
      FeedPoolBytes(run.dims, run.quantization, &cpu, &onednn);
      RunOp(&cpu, OperatorsOf({text, ""})[0]);
      ASSERT_TRUE(op->Run());
      ExpectKept({text, run.quantization}, cpu, onednn);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::bytes_pool_ideep_test
