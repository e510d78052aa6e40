#include "tests/operators/conv/naive_conv.h"

#include <cstddef>

namespace caffe2rt::test {
namespace {

// Calls visit(x, filter, y) for every product of the convolution, with the indices of its operands
// and of the output that it is added to.
template <class Visit>
void ForEachNaiveProduct(const NaiveImage& p, const Visit& visit) {
  const int64_t in_group = p.channels / p.group, out_group = p.filters / p.group;
  const auto at = [&](int64_t n, int64_t c, int64_t h, int64_t w, int64_t channels, int64_t height,
                      int64_t width) {
    return static_cast<size_t>(p.channels_last ? ((n * height + h) * width + w) * channels + c
                                               : ((n * channels + c) * height + h) * width + w);
  };
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t m = 0; m < p.filters; ++m) {
      for (int64_t oh = 0; oh < p.out_h(); ++oh) {
        for (int64_t ow = 0; ow < p.out_w(); ++ow) {
          for (int64_t c = 0; c < in_group; ++c) {
            for (int64_t i = 0; i < p.kernel_h; ++i) {
              for (int64_t j = 0; j < p.kernel_w; ++j) {
                const int64_t h = oh * p.stride_h + i * p.dilation_h - p.top;
                const int64_t w = ow * p.stride_w + j * p.dilation_w - p.left;
                if (h < 0 || h >= p.height || w < 0 || w >= p.width) continue;
                visit(at(n, m / out_group * in_group + c, h, w, p.channels, p.height, p.width),
                      at(m, c, i, j, in_group, p.kernel_h, p.kernel_w),
                      at(n, m, oh, ow, p.filters, p.out_h(), p.out_w()));
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<float> NaiveConv(const NaiveImage& p, const std::vector<float>& x,
                             const std::vector<float>& filter, const std::vector<float>& bias) {
  const int64_t size = p.out_h() * p.out_w();
  std::vector<double> y(static_cast<size_t>(p.batch * p.filters * size));
  for (size_t i = 0; i < y.size() && !bias.empty(); ++i) {
    const size_t filters = bias.size();
    y[i] = bias[p.channels_last ? i % filters : i / static_cast<size_t>(size) % filters];
  }
  ForEachNaiveProduct(p, [&](size_t at_x, size_t at_filter, size_t at_y) {
    y[at_y] += double{x[at_x]} * filter[at_filter];
  });
  return {y.begin(), y.end()};
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

}  // namespace caffe2rt::test
