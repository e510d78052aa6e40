#include "tests/operators/conv/naive_conv.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>

namespace caffe2rt::test {
namespace {

// The distances between elements that are neighbours in one dimension.
struct Strides {
  int64_t outer, channel, row, column;
};

Strides StridesOf(int64_t channels, int64_t height, int64_t width, bool channels_last) {
  if (channels_last) return {channels * height * width, 1, channels * width, channels};
  return {channels * height * width, height * width, width, 1};
}

// Calls visit(x, filter, y) for every product of the convolution, with the indices of its operands
// and of the output that it is added to.
template <class Visit>
void ForEachNaiveProduct(const NaiveImage& p, const Visit& visit) {
  const int64_t in_group = p.channels / p.group, out_group = p.filters / p.group;
  const Strides x = StridesOf(p.channels, p.height, p.width, p.channels_last);
  const Strides y = StridesOf(p.filters, p.out_h(), p.out_w(), p.channels_last);
  const Strides f = StridesOf(in_group, p.kernel_h, p.kernel_w, p.channels_last);
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t m = 0; m < p.filters; ++m) {
      const int64_t first = m / out_group * in_group;
      for (int64_t oh = 0; oh < p.out_h(); ++oh) {
        for (int64_t ow = 0; ow < p.out_w(); ++ow) {
          const int64_t at_y = n * y.outer + m * y.channel + oh * y.row + ow * y.column;
          for (int64_t c = 0; c < in_group; ++c) {
            for (int64_t i = 0; i < p.kernel_h; ++i) {
              const int64_t h = oh * p.stride_h + i * p.dilation_h - p.top;
              if (h < 0 || h >= p.height) continue;
              const int64_t at_x = n * x.outer + (first + c) * x.channel + h * x.row;
              const int64_t at_f = m * f.outer + c * f.channel + i * f.row;
              for (int64_t j = 0; j < p.kernel_w; ++j) {
                const int64_t w = ow * p.stride_w + j * p.dilation_w - p.left;
                if (w < 0 || w >= p.width) continue;
                visit(static_cast<size_t>(at_x + w * x.column),
                      static_cast<size_t>(at_f + j * f.column), static_cast<size_t>(at_y));
              }
            }
          }
        }
      }
    }
  }
}

std::vector<float> ComputeNaiveConv(const NaiveImage& p, const std::vector<float>& x,
                                    const std::vector<float>& filter,
                                    const std::vector<float>& bias) {
  const int64_t size = p.out_h() * p.out_w();
  std::vector<double> y(static_cast<size_t>(p.batch * p.filters * size));
  for (size_t i = 0; i < y.size() && !bias.empty(); ++i) {
    const size_t filters = bias.size();
    y[i] = bias[p.channels_last ? i % filters : i / static_cast<size_t>(size) % filters];
  }
  // The sum is in a register while the output stays the same, which takes half of the time.
  double sum = 0;
  size_t output = 0;
  ForEachNaiveProduct(p, [&](size_t at_x, size_t at_filter, size_t at_y) {
    if (at_y != output) {
      y[output] += sum;
      sum = 0;
      output = at_y;
    }
    sum += double{x[at_x]} * filter[at_filter];
  });
  if (!y.empty()) y[output] += sum;
  return {y.begin(), y.end()};
}

struct NaiveResult {
  NaiveImage picture;
  std::vector<float> x, filter, bias, y;
};

}  // namespace

// Tests compare one convolution with each activation, layout and number of threads, so the last
// results are kept.
std::vector<float> NaiveConv(const NaiveImage& p, const std::vector<float>& x,
                             const std::vector<float>& filter, const std::vector<float>& bias) {
  constexpr size_t kKept = 32;
  static std::deque<NaiveResult> results;
  for (const NaiveResult& result : results) {
    if (result.picture == p && result.x == x && result.filter == filter && result.bias == bias) {
      return result.y;
    }
  }
  if (results.size() == kKept) results.pop_front();
  results.push_back({p, x, filter, bias, ComputeNaiveConv(p, x, filter, bias)});
  return results.back().y;
}

NaiveGradients NaiveConvGradients(const NaiveImage& p, const std::vector<float>& x,
                                  const std::vector<float>& filter, const std::vector<float>& dy) {
  std::vector<double> dfilter(filter.size()), dx(x.size());
  ForEachNaiveProduct(p, [&](size_t at_x, size_t at_filter, size_t at_y) {
    dfilter[at_filter] += double{x[at_x]} * dy[at_y];
    dx[at_x] += double{filter[at_filter]} * dy[at_y];
  });
  return {{dfilter.begin(), dfilter.end()}, {dx.begin(), dx.end()}};
}

float LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return HUGE_VALF;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace caffe2rt::test
