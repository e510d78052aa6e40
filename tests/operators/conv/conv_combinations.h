#pragma once
// Combinations of what the convolutions divide their work by, for tests of all algorithms: shape,
// window, batch and threads. Faults in the division show only under several conditions at once, as
// for two images on three threads with odd rows. Tests cover all triples (covering_array.h).

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/operators/conv/covering_array.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

using CoveringRow = CoveringArrayBuilder::Row;

struct ConvBody {
  int64_t channels, filters, out_h, out_w;
  int64_t group = 1;
};
struct ConvWindow {
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, top, left, bottom, right;
};
struct ConvDivision {
  int64_t batch;
  int threads;
};

inline constexpr ConvWindow kConvWindows[] = {
    {1, 1, 1, 1, 1, 1, 0, 0, 0, 0},    // pointwise
    {1, 1, 2, 2, 1, 1, 0, 0, 0, 0},    // pointwise with strides
    {3, 3, 1, 1, 1, 1, 1, 0, 0, 1},    // Winograd, asymmetric padding
    {3, 3, 2, 2, 1, 1, 1, 1, 1, 1},    // with strides
    {3, 2, 1, 3, 2, 3, 2, 1, 1, 3},    // different on each axis
    {2, 3, 2, 1, 1, 1, -1, 2, 0, -1},  // cropped
    {3, 1, 1, 1, 1, 1, 4, 0, 0, 0},    // outputs of padding only
    {5, 5, 1, 1, 1, 1, 2, 2, 2, 2},    // much work
};
inline constexpr ConvDivision kConvDivisions[] = {{1, 3}, {2, 3}, {3, 2}};

// The input has the size that gives the output its size, and with strides one row and one column
// that no window reaches.
inline int64_t InputSize(int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                         int64_t pads) {
  const int64_t extent = (kernel - 1) * dilation + 1, rest = stride > 1 ? 1 : 0;
  return std::max<int64_t>(1, (out - 1) * stride + extent - pads + rest);
}

inline NaiveImage CombinedImage(const ConvBody& body, const ConvWindow& w, int64_t batch) {
  return {.batch = batch,
          .channels = body.channels,
          .height = InputSize(body.out_h, w.kernel_h, w.stride_h, w.dilation_h, w.top + w.bottom),
          .width = InputSize(body.out_w, w.kernel_w, w.stride_w, w.dilation_w, w.left + w.right),
          .filters = body.filters,
          .kernel_h = w.kernel_h,
          .kernel_w = w.kernel_w,
          .stride_h = w.stride_h,
          .stride_w = w.stride_w,
          .top = w.top,
          .left = w.left,
          .bottom = w.bottom,
          .right = w.right,
          .dilation_h = w.dilation_h,
          .dilation_w = w.dilation_w,
          .group = body.group};
}

inline std::string DescribeConv(const NaiveImage& p, int threads) {
  return MakeString(p.batch, "x", p.channels, "x", p.height, "x", p.width, ", ", p.filters,
                    " filters ", p.kernel_h, "x", p.kernel_w, ", strides ", p.stride_h, "x",
                    p.stride_w, ", dilations ", p.dilation_h, "x", p.dilation_w, ", pads ", p.top,
                    " ", p.left, " ", p.bottom, " ", p.right, ", group ", p.group,
                    p.channels_last ? ", NHWC, " : ", NCHW, ", threads, " threads");
}

// `count` random numbers in [-1, 1), from `first` on in one sequence.
inline std::vector<float> ConvValues(int64_t count, int64_t first) {
  static const std::vector<float> all = RandomValues(2 << 20);
  CAFFE_ENFORCE_LE(static_cast<size_t>(first + count), all.size(), "numbers in the sequence");
  return {all.begin() + first, all.begin() + first + count};
}

// Random numbers. Sums of `terms` products with others in [-1, 1) have about the size of one.
inline std::vector<float> ValuesForSums(int64_t count, int64_t first, int64_t terms) {
  std::vector<float> values = ConvValues(count, first);
  const float scale = 2 / std::sqrt(static_cast<float>(terms));
  for (float& value : values) value *= scale;
  return values;
}

// The inputs of a convolution.
struct ConvInputs {
  ConvInputs(const NaiveImage& p, bool with_bias) {
    const int64_t depth = p.channels / p.group * p.kernel_h * p.kernel_w;
    x = ConvValues(p.batch * p.channels * p.height * p.width, 0);
    filter = ValuesForSums(p.filters * depth, 1000, depth);
    if (with_bias) bias = ConvValues(p.filters, 2000);
  }
  const float* bias_data() const { return bias.empty() ? nullptr : bias.data(); }
  std::vector<float> x, filter, bias;
};

inline constexpr float kConvTolerance = 2e-4f;

inline void ExpectClose(const std::vector<float>& got, const std::vector<float>& want,
                        const std::string& name) {
  ASSERT_EQ(got.size(), want.size()) << name;
  EXPECT_LE(LargestDifference(got, want), kConvTolerance) << name;
}

// How often something was reached.
using Reached = std::map<std::string, int>;

inline void ExpectReached(const Reached& reached, const std::vector<std::string>& names) {
  for (const std::string& name : names) EXPECT_TRUE(reached.contains(name)) << "not: " << name;
}

class ThreadsOfTest {
 public:
  explicit ThreadsOfTest(int threads) { SetNumThreads(threads); }
  ~ThreadsOfTest() { SetNumThreads(1); }
};

}  // namespace caffe2rt::test
