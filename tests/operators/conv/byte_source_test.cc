// Images on IDEEP read as bytes: from every layout and element type, with and without a frame.
#include "operators/conv/byte_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt::byte_source_test {
namespace {

using enum OnednnFormat;
using enum dnnl::memory::data_type;
using ImageDims = std::vector<int64_t>;  // [N, C, H, W]

constexpr OnednnQuantization kQuarters{.scale = 0.25f, .zero_point = 60};

int64_t CountOf(const ImageDims& dims) { return dims[0] * dims[1] * dims[2] * dims[3]; }

// Eighths from -125 / 8 on, which bf16 represents. Every second one is halfway between two bytes.
std::vector<float> Eighths(const ImageDims& dims, int first = 0) {
  std::vector<float> x(static_cast<size_t>(CountOf(dims)));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((static_cast<int>(i) + first) * 37 % 251 - 125) / 8;
  return x;
}

struct SourceLayout {
  const char* name;
  OnednnFormat format;
  dnnl::memory::data_type element;
};
const SourceLayout kSourceLayouts[] = {{"floats in nchw", kNchw, f32},
                                       {"floats in nhwc", kNhwc, f32},
                                       {"floats in blocks", kBlocked16, f32},
                                       {"bf16 in nhwc", kNhwc, bf16},
                                       {"bf16 in blocks", kBlocked16, bf16}};

void PlaceImage(const SourceLayout& layout, const ImageDims& dims, const std::vector<float>& values,
                Tensor* x) {
  const dnnl::memory::desc desc = DescIn(layout.format, dims, layout.element);
  void* const to = PrepareOutputMemory(x, dims, OnednnLayout::New(desc));
  Reorder(DescIn(kNchw, dims), values.data(), desc, to);
}

uint8_t ByteOf(float value, const OnednnQuantization& by) {
  if (std::isnan(value)) return 0;
  const double steps = std::nearbyint(double{value} / double{by.scale}) + by.zero_point;
  return static_cast<uint8_t>(std::clamp(steps, 0.0, 255.0));
}

// The bytes in NHWC, in the frame.
std::vector<uint8_t> WantedBytes(const ImageDims& dims, const std::vector<float>& values,
                                 const OnednnQuantization& by, const ByteFrame& frame) {
  std::vector<uint8_t> bytes;
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t r = 0; r < frame.height; ++r) {
      for (int64_t c = 0; c < frame.width; ++c) {
        const int64_t h = r - frame.top, w = c - frame.left;
        const bool inside = h >= 0 && h < dims[2] && w >= 0 && w < dims[3];
        for (int64_t k = 0; k < dims[1]; ++k) {
          const int64_t at = ((n * dims[1] + k) * dims[2] + h) * dims[3] + w;
          bytes.push_back(inside ? ByteOf(values[static_cast<size_t>(at)], by)
                                 : static_cast<uint8_t>(by.zero_point));
        }
      }
    }
  }
  return bytes;
}

std::vector<uint8_t> ReadBytes(ByteSource* source, const Tensor& x) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(source->Read(x));
  return {bytes, bytes + source->desc().get_size()};
}

TEST(ByteSourceTest, QuantizesEveryLayoutInEveryRead) {
  for (const ImageDims& dims : {ImageDims{2, 5, 3, 4}, {1, 20, 5, 3}, {3, 64, 17, 9}}) {
    const ByteFrame whole{.height = dims[2], .width = dims[3]};
    for (const SourceLayout& layout : kSourceLayouts) {
      SCOPED_TRACE(layout.name);
      Tensor x(IDEEP);
      PlaceImage(layout, dims, Eighths(dims), &x);
      ASSERT_TRUE(ByteSource::Fits(x, kQuarters));
      ByteSource source(x, kQuarters);
      EXPECT_EQ(source.desc(), DescIn(kNhwc, dims, u8));
      for (const int threads : {1, 3}) {
        SetNumThreads(threads);
        const std::vector<float> values = Eighths(dims, threads);
        PlaceImage(layout, dims, values, &x);
        EXPECT_EQ(ReadBytes(&source, x), WantedBytes(dims, values, kQuarters, whole));
      }
      SetNumThreads(1);
    }
  }
}

// What is beyond the bytes becomes the first and the last one, and a NaN the first.
TEST(ByteSourceTest, BoundsNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {kInfinity, -kInfinity, NAN, 48.75f, 48.875f, 49,
                                     -15,       -15.125f,   -16, 1e30f,  -1e30f,  0};
  const ImageDims dims = {1, 2, 2, 3};
  for (const SourceLayout& layout : kSourceLayouts) {
    SCOPED_TRACE(layout.name);
    if (layout.element == bf16) continue;  // 48.875 has more digits
    Tensor x(IDEEP);
    PlaceImage(layout, dims, values, &x);
    ByteSource source(x, kQuarters);
    // 48.75 is byte 255, and -15 is byte 0.
    EXPECT_EQ(ReadBytes(&source, x),
              (std::vector<uint8_t>{255, 0, 0, 0, 0, 0, 255, 255, 255, 0, 255, 60}));
  }
}

const ByteFrame kFrames[] = {{.top = 1, .left = 2, .height = 6, .width = 9},
                             {.top = 0, .left = 0, .height = 3, .width = 4},
                             {.top = 0, .left = 0, .height = 4, .width = 5},
                             {.top = 2, .left = 0, .height = 5, .width = 4},
                             {.top = -1, .left = -2, .height = 2, .width = 2},
                             {.top = -1, .left = 1, .height = 3, .width = 4},
                             {.top = 2, .left = 3, .height = 4, .width = 5},
                             // Nothing of the image lies inside.
                             {.top = 4, .left = 0, .height = 4, .width = 4},
                             {.top = 0, .left = -4, .height = 3, .width = 2}};

TEST(ByteSourceTest, SurroundsTheImageByTheZeroPoint) {
  const ImageDims dims = {2, 5, 3, 4};
  for (const SourceLayout& layout : kSourceLayouts) {
    for (const ByteFrame& frame : kFrames) {
      SCOPED_TRACE(testing::Message() << layout.name << " at " << frame.top << ", " << frame.left);
      Tensor x(IDEEP);
      PlaceImage(layout, dims, Eighths(dims), &x);
      ByteSource source(x, kQuarters, frame);
      EXPECT_EQ(source.desc(), DescIn(kNhwc, {2, 5, frame.height, frame.width}, u8));
      for (const int first : {0, 9}) {
        const std::vector<float> values = Eighths(dims, first);
        PlaceImage(layout, dims, values, &x);
        EXPECT_EQ(ReadBytes(&source, x), WantedBytes(dims, values, kQuarters, frame));
      }
    }
  }
}

TEST(ByteSourceTest, ReadsItsOwnBytesWhereTheyAre) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  const ImageDims dims = {2, 5, 3, 4};
  Tensor x(IDEEP);
  auto* const bytes = static_cast<uint8_t*>(
      PrepareOutputMemory(&x, dims, OnednnLayout::New(DescIn(kNhwc, dims, u8), kQuarters)));
  const std::vector<float> values = Eighths(dims);
  const ByteFrame whole{.height = 3, .width = 4};
  const std::vector<uint8_t> want = WantedBytes(dims, values, kQuarters, whole);
  std::copy(want.begin(), want.end(), bytes);
  ByteSource source(x, kQuarters);
  EXPECT_EQ(static_cast<const void*>(source.Read(x)), bytes);
  for (const ByteFrame& frame : kFrames) {
    ByteSource framed(x, kQuarters, frame);
    EXPECT_EQ(ReadBytes(&framed, x), WantedBytes(dims, values, kQuarters, frame));
  }
}

TEST(ByteSourceTest, FitsImagesAndBytesOfTheSameQuantization) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  Tensor rows(IDEEP);
  (void)PrepareOutput(&rows, {2, 5, 12}, nullptr);
  EXPECT_FALSE(ByteSource::Fits(rows, kQuarters));
  const ImageDims dims = {2, 5, 3, 4};
  const struct {
    OnednnFormat format;
    dnnl::memory::data_type element;
    OnednnQuantization quantization;
    bool fits;
  } layouts[] = {{kNhwc, u8, kQuarters, true},
                 {kNhwc, u8, {.scale = 0.5f, .zero_point = 60}, false},
                 {kNhwc, u8, {.scale = 0.25f, .zero_point = 61}, false},
                 {kNchw, u8, kQuarters, false},
                 {kBlocked16, u8, kQuarters, false},
                 {kNhwc, s8, kQuarters, false}};
  for (const auto& layout : layouts) {
    Tensor x(IDEEP);
    (void)PrepareOutputMemory(
        &x, dims,
        OnednnLayout::New(DescIn(layout.format, dims, layout.element), layout.quantization));
    EXPECT_EQ(ByteSource::Fits(x, kQuarters), layout.fits)
        << OnednnFormatName(layout.format) << " " << layout.quantization.scale;
  }
}

}  // namespace
}  // namespace caffe2rt::byte_source_test
