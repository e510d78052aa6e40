// Convolutions on IDEEP that add a tensor S: in place of it, in other layouts, and of memory that must stay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::conv_sum_ideep_test {
namespace {

using namespace test;  // used throughout this file

constexpr int64_t kSumChannels = 32;

// Pixels of one image: NCHW and NHWC are the same memory.
void FeedPixel(const std::string& name, float first, Workspace* ws) {
  Workspace plain;
  const Tensor* const values = FeedRange<float>(&plain, name, {2, kSumChannels, 1, 1}, first, 0.5);
  ws->CreateBlob(name)->GetMutableTensor(IDEEP)->CopyFrom(*values);
}

std::vector<float> PlainValues(const Tensor& tensor) {
  Tensor plain(CPU);
  plain.CopyFrom(tensor);
  return {plain.data<float>(), plain.data<float>() + plain.numel()};
}

OperatorDef SumOnIdeep(const std::string& text) {
  OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
  def.mutable_device_option()->set_device_type(PROTO_IDEEP);
  return def;
}

// The filter doubles each channel, so Y = 2 X + S.
void FeedSum(float x, float s, Workspace* ws) {
  FeedPixel("X", x, ws);
  FeedPixel("S", s, ws);
  std::vector<float> filter(kSumChannels * kSumChannels);
  for (size_t c = 0; c < kSumChannels; ++c) filter[c * kSumChannels + c] = 2;
  Feed<float>(ws, "w", {kSumChannels, kSumChannels, 1, 1}, filter);
}

std::vector<float> WantedSum(float x, float s) {
  std::vector<float> want;
  for (int i = 0; i < 2 * kSumChannels; ++i) {
    const float step = 0.5f * static_cast<float>(i);
    want.push_back(2 * (x + step) + s + step);
  }
  return want;
}

TEST(ConvSumTest, AddsSToANewTensorAndInPlace) {
  Workspace ws;
  FeedSum(1, -3, &ws);
  const auto other = CreateOperator(SumOnIdeep("ConvFusion X w S -> Y kernel=1 sum=1"), &ws);
  for (const float s : {-3.f, 5.f}) {
    FeedPixel("S", s, &ws);
    ASSERT_TRUE(other->Run());
    EXPECT_EQ(PlainValues(ws.GetBlob("Y")->Get<Tensor>()), WantedSum(1, s));
    EXPECT_EQ(PlainValues(ws.GetBlob("S")->Get<Tensor>()).front(), s);
  }
  const auto in_place = CreateOperator(SumOnIdeep("ConvFusion X w S -> S kernel=1 sum=1"), &ws);
  for (const float s : {-3.f, 5.f}) {
    FeedPixel("S", s, &ws);
    ASSERT_TRUE(in_place->Run());
    EXPECT_EQ(PlainValues(ws.GetBlob("S")->Get<Tensor>()), WantedSum(1, s));
  }
}

// Memory that must not be written, such as that of a mapped file, keeps its values, and the sum has new memory.
TEST(ConvSumTest, LeavesReadOnlyMemoryOfSAlone) {
  Workspace ws;
  FeedSum(1, -3, &ws);
  Tensor* const s = ws.GetBlob("S")->GetMutable<Tensor>();
  s->MarkReadOnly();
  const Tensor kept = *s;
  const std::vector<float> before = PlainValues(kept);
  const auto op = CreateOperator(SumOnIdeep("ConvFusion X w S -> S kernel=1 sum=1"), &ws);
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(PlainValues(ws.GetBlob("S")->Get<Tensor>()), WantedSum(1, -3));
  EXPECT_EQ(PlainValues(kept), before);
  // The memory of the first sum may be written: 2 X + (2 X + S).
  ASSERT_TRUE(op->Run());
  std::vector<float> twice = WantedSum(1, -3);
  const std::vector<float> x = PlainValues(ws.GetBlob("X")->Get<Tensor>());
  for (size_t i = 0; i < twice.size(); ++i) twice[i] += 2 * x[i];
  EXPECT_EQ(PlainValues(ws.GetBlob("S")->Get<Tensor>()), twice);
}

// S in rows of channels first and then in another layout, in place and not.
TEST(ConvSumTest, FollowsTheLayoutOfS) {
  constexpr int64_t kSide = 3, kPixels = kSide * kSide;
  const std::vector<int64_t> dims = {1, kSumChannels, kSide, kSide};
  for (const char* const text :
       {"ConvFusion X w S -> S kernel=1 sum=1", "ConvFusion X w S -> Y kernel=1 sum=1"}) {
    SCOPED_TRACE(text);
    Workspace ws, plain;
    FeedSum(0, 0, &ws);
    const Tensor* const x = FeedRange<float>(&plain, "X", dims, -20, 0.25);
    ws.GetBlob("X")->GetMutableTensor(IDEEP)->CopyFrom(*x);
    const auto feed_s = [&](OnednnFormat format, float first) {
      const Tensor* const s = FeedRange<float>(&plain, "S", dims, first, 0.5);
      const dnnl::memory::desc desc = DescIn(format, dims);
      float* const to =
          PrepareOutput(ws.CreateBlob("S")->GetMutableTensor(IDEEP), dims, OnednnLayout::New(desc));
      Reorder(DescIn(OnednnFormat::kNchw, dims), s->data<float>(), desc, to);
    };
    feed_s(OnednnFormat::kNchw, 1);
    const auto op = CreateOperator(SumOnIdeep(text), &ws);
    float first = 1;
    for (const OnednnFormat format :
         {OnednnFormat::kNchw, OnednnFormat::kNhwc, OnednnFormat::kBlocked16, OnednnFormat::kNchw,
          OnednnFormat::kBlocked16, OnednnFormat::kNhwc}) {
      feed_s(format, first);
      ASSERT_TRUE(op->Run());
      const std::string y = std::string(text).find("-> S") != std::string::npos ? "S" : "Y";
      const std::vector<float> got = PlainValues(ws.GetBlob(y)->Get<Tensor>());
      ASSERT_EQ(got.size(), static_cast<size_t>(kSumChannels * kPixels));
      for (size_t i = 0; i < got.size(); ++i) {
        const auto step = static_cast<float>(i);
        ASSERT_EQ(got[i], 2 * (-20 + 0.25f * step) + first + 0.5f * step)
            << OnednnFormatName(format) << " " << i;
      }
      first += 7;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::conv_sum_ideep_test
