#pragma once
// Convolution of images and its gradients by definition, as the reference for the kernels.

#include <cstdint>
#include <vector>

namespace caffe2rt::test {

struct NaiveImage {
  int64_t batch, channels, height, width, filters, kernel_h, kernel_w;
  int64_t stride_h = 1, stride_w = 1, top = 0, left = 0, bottom = 0, right = 0;
  int64_t dilation_h = 1, dilation_w = 1, group = 1;
  bool channels_last = false;

  bool operator==(const NaiveImage&) const = default;
  int64_t out_h() const {
    return (height + top + bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  int64_t out_w() const {
    return (width + left + right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
};

// `bias` may be empty. To be called by one thread at a time.
std::vector<float> NaiveConv(const NaiveImage& p, const std::vector<float>& x,
                             const std::vector<float>& filter, const std::vector<float>& bias);

struct NaiveGradients {
  std::vector<float> filter, x;
};
NaiveGradients NaiveConvGradients(const NaiveImage& p, const std::vector<float>& x,
                                  const std::vector<float>& filter, const std::vector<float>& dy);

// The largest difference between two elements, or infinity if one of them is NaN. REQUIRES: the
// vectors have the same size.
float LargestDifference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace caffe2rt::test
