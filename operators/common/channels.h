#pragma once
// Batch, channels and positions of a tensor in NCHW or NHWC order, of any rank from 2 on. Without
// Tensor's header, so that .cu files may include it.

#include <cstdint>

#include "caffe2_core/base/storage_order.h"

namespace caffe2rt {

class Tensor;

struct Channels {
  int64_t batch = 0;
  int64_t count = 0;      // channels
  int64_t positions = 1;  // product of the other dimensions: pixels of an image
  bool last = false;      // NHWC: the channels of a position lie together

  bool operator==(const Channels&) const = default;
};

// Of input 0. THROWS for a rank below 2.
Channels ChannelsOf(const Tensor& X, StorageOrder order);

// The elements of input `i`, one for each channel. THROWS for any other number of elements or type
// than float.
const float* ChannelVector(const Tensor& tensor, int i, const char* name, int64_t channels);

}  // namespace caffe2rt
