#pragma once
// Convolution of images by its definition, as the reference for the kernels.

#include <cstdint>
#include <vector>

namespace caffe2rt::test {

struct NaivePicture {
  int64_t batch, channels, height, width, filters, kernel_h, kernel_w;
  int64_t stride_h = 1, stride_w = 1, top = 0, left = 0, bottom = 0, right = 0;
  int64_t dilation_h = 1, dilation_w = 1, group = 1;
  bool channels_last = false;

  int64_t out_h() const {
    return (height + top + bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  int64_t out_w() const {
    return (width + left + right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
};

// `bias` may be empty.
inline std::vector<float> NaiveConv(const NaivePicture& p, const std::vector<float>& x,
                                    const std::vector<float>& filter,
                                    const std::vector<float>& bias) {
  const int64_t in_group = p.channels / p.group, out_group = p.filters / p.group;
  const auto at = [&](int64_t n, int64_t c, int64_t h, int64_t w, int64_t channels, int64_t height,
                      int64_t width) {
    return static_cast<size_t>(p.channels_last ? ((n * height + h) * width + w) * channels + c
                                               : ((n * channels + c) * height + h) * width + w);
  };
  std::vector<float> y(static_cast<size_t>(p.batch * p.filters * p.out_h() * p.out_w()));
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t m = 0; m < p.filters; ++m) {
      for (int64_t oh = 0; oh < p.out_h(); ++oh) {
        for (int64_t ow = 0; ow < p.out_w(); ++ow) {
          double sum = bias.empty() ? 0.0 : bias[static_cast<size_t>(m)];
          for (int64_t c = 0; c < in_group; ++c) {
            for (int64_t i = 0; i < p.kernel_h; ++i) {
              for (int64_t j = 0; j < p.kernel_w; ++j) {
                const int64_t h = oh * p.stride_h + i * p.dilation_h - p.top;
                const int64_t w = ow * p.stride_w + j * p.dilation_w - p.left;
                if (h < 0 || h >= p.height || w < 0 || w >= p.width) continue;
                sum += double{x[at(n, m / out_group * in_group + c, h, w, p.channels, p.height,
                                   p.width)]} *
                       filter[at(m, c, i, j, in_group, p.kernel_h, p.kernel_w)];
              }
            }
          }
          y[at(n, m, oh, ow, p.filters, p.out_h(), p.out_w())] = static_cast<float>(sum);
        }
      }
    }
  }
  return y;
}

}  // namespace caffe2rt::test
