// The built-in depthwise convolution of bytes, against the definition over quantized numbers.
#include "operators/conv/byte_depthwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/int8_filter.h"

namespace caffe2rt::byte_depthwise_test {
namespace {

struct Case {
  int64_t channels, height, width, kernel, stride;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  int32_t zero_point = 0;
  int64_t batch = 1;
  int threads = 1;
};

const Case kCases[] = {
    {16, 5, 6, 3, 1},                           // the least channels
    {17, 4, 4, 3, 1, 1, 1, 1, 1},               // vectors that overlap
    {24, 7, 9, 3, 2, 1, 1, 1, 1, 3},            // with a zero point
    {32, 1, 1, 3, 1, 1, 1, 1, 1, 5},            // one pixel
    {33, 6, 7, 5, 1, 2, 2, 2, 2, 200, 2},       // two images
    {47, 9, 8, 5, 2, 2, 2, 2, 2, 0, 3, 2},      // three images on two threads
    {60, 3, 9, 3, 1, 1, 0, 0, 2, 1},            // uneven padding
    {64, 14, 14, 3, 1, 1, 1, 1, 1, 0, 1, 2},    //
    {96, 15, 13, 3, 2, 0, 1, 1, 0, 128, 1, 2},  //
    {100, 5, 5, 5, 1, 4, 4, 4, 4, 9},           // windows in the padding alone
    {144, 8, 8, 3, 1, 1, 1, 1, 1, 17},          //
    {207, 4, 5, 5, 2, 2, 2, 1, 1, 255},         //
    {64, 5, 5, 3, 1, 1, 1, 1, 1, 0, 0},         // no images
    {80, 2, 2, 3, 2, 1, 1, 0, 0, 7, 1, 1},      //
};

WindowAxis AxisOf(int64_t in, int64_t kernel, int64_t stride, int64_t head, int64_t tail) {
  WindowAxis axis{.in = in, .kernel = kernel, .stride = stride, .pad_head = head, .pad_tail = tail};
  axis.out = (in + head + tail - kernel) / stride + 1;
  return axis;
}

ByteDepthwise ConvOf(const Case& c, ByteResult result, bool limited) {
  return {.batch = c.batch,
          .channels = c.channels,
          .rows = AxisOf(c.height, c.kernel, c.stride, c.top, c.bottom),
          .columns = AxisOf(c.width, c.kernel, c.stride, c.left, c.right),
          .x = {.scale = 0.02f, .zero_point = c.zero_point},
          .result = result,
          .y = {.scale = 0.03f, .zero_point = 11},
          .lowest = -2.5f,
          .highest = 4,
          .pair_limited = limited};
}

// The bytes of X and the filter as the numbers that they stand for, in double.
std::vector<double> Naive(const ByteDepthwise& conv, const std::vector<uint8_t>& x,
                          const std::vector<float>& filter, const std::vector<float>& bias) {
  const WindowAxis &h = conv.rows, &w = conv.columns;
  const int64_t taps = h.kernel * w.kernel, channels = conv.channels;
  std::vector<int8_t> bytes(filter.size());
  std::vector<float> scales(bias.size()), sums(bias.size());
  QuantizeFilter({.out = channels, .in = taps, .pair_limited = conv.pair_limited, .any_pair = true},
                 filter.data(), bytes.data(), scales.data(), sums.data());
  std::vector<double> y;
  for (int64_t i = 0; i < conv.batch * h.out * w.out * channels; ++i) {
    const int64_t c = i % channels, column = i / channels % w.out;
    const int64_t row = i / channels / w.out % h.out, image = i / channels / w.out / h.out;
    double sum = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t from_row = row * h.stride - h.pad_head + k / w.kernel;
      const int64_t from_column = column * w.stride - w.pad_head + k % w.kernel;
      if (from_row < 0 || from_row >= h.in || from_column < 0 || from_column >= w.in) continue;
      const int64_t from = ((image * h.in + from_row) * w.in + from_column) * channels + c;
      sum += (x[static_cast<size_t>(from)] - conv.x.zero_point) *
             bytes[static_cast<size_t>(c * taps + k)];
    }
    const size_t channel = static_cast<size_t>(c);
    y.push_back(std::clamp(sum * conv.x.scale * scales[channel] + bias[channel], -2.5, 4.0));
  }
  return y;
}

using Parameters = std::tuple<Case, ByteResult, bool>;

class ByteDepthwiseTest : public testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override { SetNumThreads(std::get<0>(GetParam()).threads); }
  void TearDown() override { SetNumThreads(1); }
};

float FromBfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

void ExpectResult(const ByteDepthwise& conv, const std::vector<char>& y,
                  const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (conv.result == ByteResult::kBytes) {
      const double number = std::clamp(want[i] / conv.y.scale + conv.y.zero_point, 0.0, 255.0);
      ASSERT_NEAR(static_cast<uint8_t>(y[i]), number, 0.5 + 1e-3) << i;
    } else if (conv.result == ByteResult::kFloats) {
      ASSERT_NEAR(reinterpret_cast<const float*>(y.data())[i], want[i], 2e-5) << i;
    } else {
      const float got = FromBfloat16(reinterpret_cast<const uint16_t*>(y.data())[i]);
      ASSERT_NEAR(got, want[i], std::abs(want[i]) / 256 + 2e-5) << i;
    }
  }
}

TEST_P(ByteDepthwiseTest, AddsProductsOfBytes) {
  if (ByteTileLanes() == 0) GTEST_SKIP() << "the instruction set in use has no AVX2";
  const auto& [c, result, limited] = GetParam();
  // Without VNNI, products are added in 16 bits.
  if (!limited && ByteTileLanes() < 64) GTEST_SKIP() << "the instruction set in use has no VNNI";
  const ByteDepthwise conv = ConvOf(c, result, limited);
  ASSERT_TRUE(ByteDepthwiseFits(conv));
  std::mt19937 random(7);
  std::vector<uint8_t> x(static_cast<size_t>(c.batch * c.height * c.width * c.channels));
  for (uint8_t& byte : x) byte = static_cast<uint8_t>(random() % 4 == 0 ? 255 : random() % 256);
  std::vector<float> filter(static_cast<size_t>(c.channels * c.kernel * c.kernel));
  for (float& w : filter) w = static_cast<float>(random() % 2001) / 1000 - 1;
  std::vector<float> bias(static_cast<size_t>(c.channels));
  for (float& b : bias) b = static_cast<float>(random() % 2001) / 1000 - 1;

  std::vector<float> prepared(static_cast<size_t>(ByteDepthwiseFilterBytes(conv) / 4 + 1));
  std::vector<float> scales(static_cast<size_t>(ByteDepthwiseScales(conv)));
  PrepareByteDepthwise(conv, filter.data(), prepared.data());
  for (const bool biased : {true, false}) {
    SCOPED_TRACE(biased ? "with a bias" : "without bias");
    const std::vector<double> want =
        Naive(conv, x, filter, biased ? bias : std::vector<float>(bias.size()));
    ScaleByteDepthwise(conv, prepared.data(), biased ? bias.data() : nullptr, scales.data());
    constexpr char kGuard = 77;
    std::vector<char> y(want.size() * 4 + 64, kGuard);
    RunByteDepthwise(conv, x.data(), prepared.data(), scales.data(), y.data());
    ExpectResult(conv, y, want);
    const size_t element = result == ByteResult::kFloats ? 4 : result == ByteResult::kBytes ? 1 : 2;
    EXPECT_EQ(y[want.size() * element], kGuard) << "writes beyond the end";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ByteDepthwiseTest,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(ByteResult::kFloats,
                                                          ByteResult::kBfloat16s,
                                                          ByteResult::kBytes),
                                          testing::Bool()));

// Numbers far beyond the bytes, without bounds: floats stay, and bytes become the first or the last one.
TEST(ByteDepthwiseBoundsTest, LargeNumbersStayFloatsAndBecomeTheLastBytes) {
  if (ByteTileLanes() == 0) GTEST_SKIP() << "the instruction set in use has no AVX2";
  for (const auto result : {ByteResult::kFloats, ByteResult::kBfloat16s, ByteResult::kBytes}) {
    SCOPED_TRACE(static_cast<int>(result));
    ByteDepthwise conv = ConvOf({16, 3, 4, 3, 1}, result, true);
    conv.lowest = -std::numeric_limits<float>::infinity();
    conv.highest = std::numeric_limits<float>::infinity();
    // Each of 9 taps is 254e6, or -254e6 in odd channels, and X is 50 * 0.02 = 1.
    const std::vector<uint8_t> x(3 * 4 * 16, 50);
    std::vector<float> filter(16 * 9);
    for (size_t i = 0; i < filter.size(); ++i) filter[i] = i / 9 % 2 == 0 ? 254e6f : -254e6f;
    std::vector<float> prepared(static_cast<size_t>(ByteDepthwiseFilterBytes(conv) / 4 + 1));
    std::vector<float> scales(static_cast<size_t>(ByteDepthwiseScales(conv)));
    PrepareByteDepthwise(conv, filter.data(), prepared.data());
    ScaleByteDepthwise(conv, prepared.data(), nullptr, scales.data());
    std::vector<char> y(2 * 16 * 4);
    RunByteDepthwise(conv, x.data(), prepared.data(), scales.data(), y.data());
    for (size_t i = 0; i < 2 * 16; ++i) {
      const double want = i % 2 == 0 ? 9 * 254e6 : -9 * 254e6;
      if (result == ByteResult::kBytes) {
        EXPECT_EQ(static_cast<uint8_t>(y[i]), want > 0 ? 255 : 0) << i;
      } else if (result == ByteResult::kFloats) {
        EXPECT_NEAR(reinterpret_cast<const float*>(y.data())[i] / want, 1, 0.01) << i;
      } else {
        EXPECT_NEAR(FromBfloat16(reinterpret_cast<const uint16_t*>(y.data())[i]) / want, 1, 0.01)
            << i;
      }
    }
  }
}

TEST(ByteDepthwiseFitsTest, RejectsWhatTheTilesDoNotCover) {
  if (ByteTileLanes() == 0) GTEST_SKIP() << "the instruction set in use has no AVX2";
  const ByteDepthwise good = ConvOf({16, 9, 9, 3, 1}, ByteResult::kBytes, true);
  const auto with = [&](auto change) {
    ByteDepthwise conv = good;
    change(&conv);
    return ByteDepthwiseFits(conv);
  };
  EXPECT_TRUE(with([](ByteDepthwise*) {}));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->channels = 15; }));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->rows.kernel = conv->columns.kernel = 7; }));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->columns.kernel = 5; }));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->rows.stride = conv->columns.stride = 3; }));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->rows.stride = 2; }));
  EXPECT_FALSE(with([](ByteDepthwise* conv) { conv->columns.dilation = 2; }));
}

TEST(QuantizeFilterTest, LimitsAnyTwoAdjacentBytes) {
  // The second and the third, whose sum is 4, are no pair of even and odd.
  const float filter[] = {-1, 1, 3};
  int8_t bytes[3];
  float scale, sum;
  QuantizeFilter({.out = 1, .in = 3, .pair_limited = true}, filter, bytes, &scale, &sum);
  EXPECT_FLOAT_EQ(scale, 3.0f / 127);
  QuantizeFilter({.out = 1, .in = 3, .pair_limited = true, .any_pair = true}, filter, bytes, &scale,
                 &sum);
  EXPECT_FLOAT_EQ(scale, 4.0f / 127);
}

}  // namespace
}  // namespace caffe2rt::byte_depthwise_test
