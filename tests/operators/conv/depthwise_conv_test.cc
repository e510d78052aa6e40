#include "operators/conv/depthwise_conv.h"

#include <cmath>

#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::depthwise_conv_test {
namespace {

using namespace test;  // used throughout this file

struct Case {
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t head_h, tail_h, head_w, tail_w;
};

WindowAxis AxisOf(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t head,
                  int64_t tail) {
  WindowAxis axis{.in = in,
                  .kernel = kernel,
                  .stride = stride,
                  .dilation = dilation,
                  .pad_head = head,
                  .pad_tail = tail};
  axis.out = (in + head + tail - axis.extent()) / stride + 1;
  return axis;
}

// By definition, in NCHW.
std::vector<float> NaiveDepthwise(const DepthwiseConv& conv, const std::vector<float>& x,
                                  const std::vector<float>& filter,
                                  const std::vector<float>& bias) {
  const WindowAxis &h = conv.rows, &w = conv.columns;
  std::vector<float> y;
  for (int64_t p = 0; p < conv.x.batch * conv.x.channels; ++p) {
    const int64_t c = p % conv.x.channels;
    for (int64_t i = 0; i < h.out * w.out; ++i) {
      double sum = bias.empty() ? 0 : bias[c];
      for (int64_t k = 0; k < h.kernel * w.kernel; ++k) {
        const int64_t row = i / w.out * h.stride - h.pad_head + k / w.kernel * h.dilation;
        const int64_t column = i % w.out * w.stride - w.pad_head + k % w.kernel * w.dilation;
        if (row < 0 || row >= h.in || column < 0 || column >= w.in) continue;
        sum += static_cast<double>(x[(p * h.in + row) * w.in + column]) *
               filter[c * h.kernel * w.kernel + k];
      }
      y.push_back(static_cast<float>(std::min(std::max(sum, static_cast<double>(conv.lowest)),
                                              static_cast<double>(conv.highest))));
    }
  }
  return y;
}

// The result for [N, C, H, W] data in the layout of the planes, on `parts` parts in turn, or on
// threads if parts is 0.
std::vector<float> Convolve(const DepthwiseConv& conv, const std::vector<float>& x,
                            const std::vector<float>& filter, const std::vector<float>& bias,
                            int parts) {
  const ChannelPlanes out = conv.y();
  const std::vector<float> placed = ToPlanes(conv.x, x);
  std::vector<float> prepared(static_cast<size_t>(PreparedDepthwiseSize(conv)));
  PrepareDepthwiseFilter(conv, filter.data(), prepared.data());
  std::vector<float> y(static_cast<size_t>(out.size()), NAN);
  const float* const b = bias.empty() ? nullptr : bias.data();
  if (parts == 0) RunDepthwise(conv, placed.data(), prepared.data(), b, y.data());
  for (int i = 0; i < parts; ++i) {
    RunDepthwise(conv, placed.data(), prepared.data(), b, y.data(), PlanesPartOf(out, i, parts));
  }
  return y;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 3e-6) << "element " << i;
}

class DepthwiseConvTest : public testing::TestWithParam<Case> {
 protected:
  DepthwiseConv Conv(bool blocked, int64_t batch, int64_t channels, int64_t height,
                     int64_t width) const {
    const Case& c = GetParam();
    return {.x = {batch, channels, height, width, blocked},
            .rows = AxisOf(height, c.kernel_h, c.stride_h, c.dilation_h, c.head_h, c.tail_h),
            .columns = AxisOf(width, c.kernel_w, c.stride_w, c.dilation_w, c.head_w, c.tail_w)};
  }
};

TEST_P(DepthwiseConvTest, EqualsItsDefinitionInBothLayouts) {
  for (const bool blocked : {false, true}) {
    for (const int64_t channels : {1, 3, 7, 16, 20, 33, 64}) {
      for (const auto& [height, width] : {std::pair{9, 13}, {7, 7}, {5, 6}, {4, 3}, {12, 30}}) {
        DepthwiseConv conv = Conv(blocked, 2, channels, height, width);
        if (conv.rows.out < 1 || conv.columns.out < 1) continue;
        const std::vector<float> x = RandomValues(2 * channels * height * width);
        const std::vector<float> filter = RandomValues(channels * conv.taps(), -1, 1, 2);
        const std::vector<float> bias = RandomValues(channels, -1, 1, 3);
        SCOPED_TRACE(
            MakeString("blocked ", blocked, ", channels ", channels, ", ", height, " x ", width));
        ExpectNear(Convolve(conv, x, filter, {}, 1),
                   ToPlanes(conv.y(), NaiveDepthwise(conv, x, filter, {})));
        conv.lowest = 0;
        conv.highest = 0.75f;
        ExpectNear(Convolve(conv, x, filter, bias, 1),
                   ToPlanes(conv.y(), NaiveDepthwise(conv, x, filter, bias)));
      }
    }
  }
}

TEST_P(DepthwiseConvTest, DoesNotDependOnPartsAndThreads) {
  for (const bool blocked : {false, true}) {
    for (const auto& [height, channels] : {std::pair{3, 72}, {3, 66}, {20, 72}}) {
      DepthwiseConv conv = Conv(blocked, 1, channels, height + GetParam().kernel_h, 31);
      const std::vector<float> x = RandomValues(conv.x.batch * channels * conv.x.pixels());
      const std::vector<float> filter = RandomValues(channels * conv.taps(), -1, 1, 2);
      const std::vector<float> bias = RandomValues(channels, -1, 1, 3);
      const std::vector<float> want = Convolve(conv, x, filter, bias, 1);
      for (const int parts : {2, 3, 7, 40}) EXPECT_EQ(Convolve(conv, x, filter, bias, parts), want);
      SetNumThreads(2);
      EXPECT_EQ(Convolve(conv, x, filter, bias, 0), want);
      SetNumThreads(1);
    }
  }
}

TEST_P(DepthwiseConvTest, AcceptsAnEmptyBatch) {
  const DepthwiseConv conv = Conv(true, 0, 16, 9, 9);
  EXPECT_TRUE(Convolve(conv, {}, RandomValues(16 * conv.taps()), {}, 0).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DepthwiseConvTest,
    testing::Values(Case{3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, Case{3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
                    Case{3, 3, 2, 2, 1, 1, 0, 1, 0, 1}, Case{3, 3, 1, 1, 1, 1, 0, 0, 0, 0},
                    Case{5, 5, 1, 1, 1, 1, 2, 2, 2, 2}, Case{5, 5, 2, 2, 1, 1, 2, 1, 1, 2},
                    Case{3, 3, 2, 1, 1, 1, 2, 0, 2, 0}, Case{3, 3, 1, 1, 2, 2, 2, 2, 2, 2},
                    Case{7, 7, 1, 1, 1, 1, 3, 3, 3, 3}, Case{1, 3, 1, 3, 1, 1, 0, 0, 1, 0},
                    Case{3, 3, 1, 1, 1, 1, -1, 1, -1, 1}, Case{3, 3, 2, 2, 3, 1, 1, 4, 2, 2},
                    // One tile reaches two columns before images 3 and 6 wide, and one after them.
                    Case{3, 3, 1, 1, 1, 1, 1, 1, 2, 1}, Case{3, 3, 1, 1, 1, 1, 1, 1, 1, 2},
                    // One column of windows with gaps between their taps.
                    Case{3, 3, 1, 1, 1, 3, 1, 1, 0, 0}, Case{3, 3, 2, 2, 1, 6, 1, 1, 0, 0},
                    Case{5, 5, 1, 1, 1, 3, 2, 2, 0, 0}));

TEST(DepthwiseConvValuesTest, EqualsValuesWorkedOutByHand) {
  // Channel 0: X counts from 1, the filter is ones. Channel 1: X is 1, the filter counts from 1.
  const DepthwiseConv conv{.x = {1, 2, 3, 3, false},
                           .rows = AxisOf(3, 3, 2, 1, 1, 1),
                           .columns = AxisOf(3, 3, 2, 1, 1, 1)};
  std::vector<float> x, filter;
  for (int i = 1; i <= 9; ++i) x.push_back(static_cast<float>(i));
  x.resize(18, 1);
  filter.resize(9, 1);
  for (int i = 1; i <= 9; ++i) filter.push_back(static_cast<float>(i));
  // Channel 0: 1+2+4+5, 2+3+5+6, 4+5+7+8, 5+6+8+9. Channel 1: 5+6+8+9, 4+5+7+8, 2+3+5+6, 1+2+4+5.
  EXPECT_EQ(Convolve(conv, x, filter, {10, 0}, 1),
            (std::vector<float>{22, 28, 26, 24, 34, 16, 38, 12}));
}

TEST(DepthwiseConvValuesTest, KeepsNaN) {
  DepthwiseConv conv{.x = {1, 16, 1, 1, true},
                     .rows = AxisOf(1, 3, 1, 1, 1, 1),
                     .columns = AxisOf(1, 3, 1, 1, 1, 1)};
  conv.lowest = 0;
  std::vector<float> x(16, 1);
  x[3] = NAN;
  const std::vector<float> y = Convolve(conv, x, std::vector<float>(16 * 9, 2), {}, 1);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(std::isnan(y[i]), i == 3) << i;
}

}  // namespace
}  // namespace caffe2rt::depthwise_conv_test
