#pragma once
// Batch size, channels and positions of a tensor in NCHW or NHWC order, of rank 2 or more. This
// header does not include Tensor's, so .cu files may include it.

#include <cstdint>

#include "caffe2_core/base/storage_order.h"

namespace caffe2rt {

class Tensor;

struct Channels {
  int64_t batch = 0;
  int64_t count = 0;      // channels
  int64_t positions = 1;  // product of the other dimensions: the pixels of an image
  bool last = false;      // NHWC: the channels of a position are contiguous

  bool operator==(const Channels&) const = default;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The channels of input 0. THROWS if the rank is below 2.
Channels ChannelsOf(const Tensor& X, StorageOrder order);

// The data of input `i`, which must hold one float for each channel. THROWS if the number of
// elements or the type differs.
const float* ChannelVector(const Tensor& tensor, int i, const char* name, int64_t channels);
#pragma GCC visibility pop

}  // namespace caffe2rt
