#pragma once
// Estimated times of convolutions on IDEEP (contexts/onednn) in each layout and algorithm. The
// placement pass compares layouts of whole regions by them, and the operator chooses its algorithm.
//
// The estimates are pure functions of the shape. They model one core with AVX-512 at 250 GFLOP/s.
// Only their ratios matter. Constants were fitted to timings of the convolutions of 12 image nets.

#include <cstdint>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct OnednnConvSize {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0, group = 1;
  int64_t out_h = 0, out_w = 0;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
};

// kNhwc and kBlocked are direct convolutions in NHWC and in blocks of 16 channels. kWinograd works
// in either layout.
enum class OnednnMethod { kNhwc, kBlocked, kWinograd };

// Whether the method supports the shape without a reference implementation, and without much
// padding of channels.
bool OnednnMethodFits(const OnednnConvSize& size, OnednnMethod method);
// Whether a direct convolution in blocks reads its input in NCHW, because it has few channels, as
// the image that a net begins with.
bool OnednnReadsNchw(const OnednnConvSize& size);

// Microseconds of the convolution; infinite if the method does not fit. Does not include reorders.
double OnednnConvMicroseconds(const OnednnConvSize& size, OnednnMethod method);

// Microseconds of converting a tensor of `count` floats between two layouts.
double OnednnReorderMicroseconds(double count);

// Bytes of a filter that is prepared for the method.
double OnednnFilterBytes(const OnednnConvSize& size, OnednnMethod method);

}  // namespace caffe2rt
#pragma GCC visibility pop
