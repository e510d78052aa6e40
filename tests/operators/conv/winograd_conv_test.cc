#include "operators/conv/winograd_conv.h"

#include <cmath>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::winograd_conv_test {
namespace {

using namespace test;  // used throughout this file

struct Size {
  int64_t height, width, pad_top, pad_left, pad_bottom, pad_right;
};
constexpr Size kSizes[] = {{7, 9, 1, 1, 1, 1},  {14, 14, 1, 1, 1, 1}, {3, 3, 0, 0, 0, 0},
                           {1, 1, 1, 1, 1, 1},  {8, 5, 2, 0, 0, 2},   {12, 11, -1, 1, 1, -1},
                           {4, 30, 1, 1, 1, 1}, {2, 2, 5, 6, 5, 6}};

WinogradConv ConvOf(bool blocked, int64_t batch, int64_t channels, int64_t filters,
                    const Size& size) {
  return {.x = {batch, channels, size.height, size.width, blocked},
          .out_channels = filters,
          .out_height = size.height + size.pad_top + size.pad_bottom - 2,
          .out_width = size.width + size.pad_left + size.pad_right - 2,
          .pad_top = size.pad_top,
          .pad_left = size.pad_left};
}

// The tensors of a convolution. `x` is in NCHW; so is `y`, which holds what is added.
struct Values {
  std::vector<float> x, filter, bias, y;
  explicit Values(const WinogradConv& conv)
      : x(RandomValues(conv.x.batch * conv.x.channels * conv.x.pixels())),
        filter(RandomValues(conv.out_channels * conv.x.channels * 9, -1, 1, 2)),
        bias(RandomValues(conv.out_channels, -1, 1, 3)),
        y(RandomValues(conv.y().size(), -1, 1, 4)) {}
};

// By definition, in NCHW.
std::vector<float> Naive(const WinogradConv& conv, const Values& values) {
  std::vector<float> y;
  const int64_t height = conv.x.height, width = conv.x.width, in = conv.x.channels;
  for (int64_t i = 0; i < conv.y().size(); ++i) {
    const int64_t column = i % conv.out_width, row = i / conv.out_width % conv.out_height;
    const int64_t k = i / (conv.out_width * conv.out_height) % conv.out_channels;
    const int64_t n = i / (conv.out_width * conv.out_height) / conv.out_channels;
    double sum = values.bias.empty() ? 0 : values.bias[static_cast<size_t>(k)];
    if (conv.sum) sum += values.y[static_cast<size_t>(i)];
    for (int64_t tap = 0; tap < in * 9; ++tap) {
      const int64_t r = row - conv.pad_top + tap % 9 / 3, c = column - conv.pad_left + tap % 3;
      if (r < 0 || r >= height || c < 0 || c >= width) continue;
      sum += static_cast<double>(
                 values.x[static_cast<size_t>(((n * in + tap / 9) * height + r) * width + c)]) *
             values.filter[static_cast<size_t>((k * in + tap / 9) * 9 + tap % 9)];
    }
    y.push_back(std::min(std::max(static_cast<float>(sum), conv.lowest), conv.highest));
  }
  return y;
}

// In the layout of the planes. Fails if the kernel writes beyond the end of its scratch memory.
std::vector<float> Convolve(const WinogradConv& conv, const Values& values, int threads) {
  constexpr float kUntouched = -12345;
  const std::vector<float> x = ToPlanes(conv.x, values.x);
  std::vector<float> prepared(static_cast<size_t>(PreparedWinogradSize(conv)));
  PrepareWinogradFilter(conv, values.filter.data(), prepared.data());
  std::vector<float> y = conv.sum ? ToPlanes(conv.y(), values.y)
                                  : std::vector<float>(static_cast<size_t>(conv.y().size()), NAN);
  const auto size = static_cast<size_t>(WinogradScratchSize(conv, threads));
  std::vector<float> scratch(size, NAN);
  scratch.resize(size + 64, kUntouched);
  RunWinograd(conv, x.data(), prepared.data(), values.bias.empty() ? nullptr : values.bias.data(),
              y.data(), threads, scratch.data());
  for (size_t i = size; i < scratch.size(); ++i) EXPECT_EQ(scratch[i], kUntouched);
  return y;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << "element " << i;
}

TEST(WinogradConvTest, EqualsItsDefinitionInBothLayouts) {
  for (const bool blocked : {false, true}) {
    for (const Size& size : kSizes) {
      for (const auto& [channels, filters] : {std::pair{16, 16}, {32, 48}, {48, 112}}) {
        if (channels == 48 && &size != kSizes) continue;  // the definition takes most of the time
        SCOPED_TRACE(MakeString("blocked ", blocked, ", ", channels, " channels, ", filters,
                                " filters, ", size.height, " x ", size.width));
        WinogradConv conv = ConvOf(blocked, 2, channels, filters, size);
        Values values(conv);
        ExpectNear(Convolve(conv, values, 1), ToPlanes(conv.y(), Naive(conv, values)));
        conv.sum = true;
        conv.lowest = 0;
        conv.highest = 2;
        values.bias.clear();
        ExpectNear(Convolve(conv, values, 1), ToPlanes(conv.y(), Naive(conv, values)));
      }
    }
  }
}

TEST(WinogradConvTest, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const bool blocked : {false, true}) {
    // Few tiles with many channels are divided by channels, many tiles by tiles.
    for (const auto& [size, channels, filters] : {std::tuple{Size{7, 7, 1, 1, 1, 1}, 64, 208},
                                                  {Size{40, 50, 1, 1, 1, 1}, 16, 32},
                                                  {Size{30, 30, 1, 1, 1, 1}, 256, 128}}) {
      const WinogradConv conv = ConvOf(blocked, 1, channels, filters, size);
      const Values values(conv);
      const std::vector<float> want = Convolve(conv, values, 1);
      for (const int threads : {2, 3, 5}) {
        SetNumThreads(threads);
        EXPECT_EQ(Convolve(conv, values, threads), want) << threads << " threads";
      }
      SetNumThreads(1);
    }
  }
}

TEST(WinogradConvTest, EqualsValuesWorkedOutByHand) {
  // Filters of ones sum up the neighbours: 4 in a corner, 6 at a border, 9 inside.
  const WinogradConv conv = ConvOf(false, 1, 16, 16, {5, 5, 1, 1, 1, 1});
  Values values(conv);
  values.x.assign(values.x.size(), 1);
  values.filter.assign(values.filter.size(), 1);
  values.bias.assign(values.bias.size(), 0.5f);
  const std::vector<float> y = Convolve(conv, values, 1);
  for (int64_t pixel = 0; pixel < 25; ++pixel) {
    const auto neighbours = [](int64_t i) { return i == 0 || i == 4 ? 2 : 3; };
    const auto want = static_cast<float>(16 * neighbours(pixel / 5) * neighbours(pixel % 5)) + 0.5f;
    for (int64_t k = 0; k < 16; ++k) {
      EXPECT_NEAR(y[static_cast<size_t>(pixel * 16 + k)], want, 1e-4) << pixel << ", " << k;
    }
  }
}

TEST(WinogradConvTest, KeepsNaN) {
  WinogradConv conv = ConvOf(true, 1, 16, 16, {4, 4, 1, 1, 1, 1});
  conv.lowest = 0;
  conv.highest = 6;
  Values values(conv);
  values.x.assign(values.x.size(), NAN);
  for (const float y : Convolve(conv, values, 1)) EXPECT_TRUE(std::isnan(y));
}

TEST(WinogradConvTest, AcceptsAnEmptyBatch) {
  const WinogradConv conv = ConvOf(true, 0, 16, 16, {9, 9, 1, 1, 1, 1});
  EXPECT_TRUE(Convolve(conv, Values(conv), 1).empty());
}

TEST(WinogradConvTest, SupportsChannelsInMultiplesOf16) {
  EXPECT_TRUE(WinogradSupports(16, 48));
  EXPECT_FALSE(WinogradSupports(16, 47));
  EXPECT_FALSE(WinogradSupports(3, 64));
  EXPECT_FALSE(WinogradSupports(0, 16));
}

TEST(WinogradConvTest, ThrowsIfTheFilterIsTooLarge) {
  WinogradConv conv = ConvOf(false, 1, 16, 16, kSizes[0]);
  conv.x.channels = int64_t{1} << 40;
  conv.out_channels = int64_t{1} << 40;
  EXPECT_THROW((void)PreparedWinogradSize(conv), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::winograd_conv_test
