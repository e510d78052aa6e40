#pragma once
// Batch, channels and positions of a tensor in NCHW or NHWC order, of any rank from 2 on.

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

struct Channels {
  int64_t batch = 0;
  int64_t count = 0;      // channels
  int64_t positions = 1;  // product of the other dimensions: pixels of an image
  bool last = false;      // NHWC: the channels of a position lie together

  bool operator==(const Channels&) const = default;
};

// THROWS for a rank below 2.
inline Channels ChannelsOf(const Tensor& X, StorageOrder order) {
  CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X) of shape ", X.sizes(),
                   ", want at least 2: batch and channels");
  Channels channels;
  channels.last = order == StorageOrder::NHWC;
  channels.batch = X.dims()[0];
  channels.count = channels.last ? X.dims().back() : X.dims()[1];
  channels.positions = channels.last ? X.size_between_dim(0, X.dim() - 1) : X.size_from_dim(2);
  return channels;
}

// The elements of input `i`, which has one for each channel. THROWS when it has not, or is not
// float.
inline const float* ChannelVector(const Tensor& tensor, int i, const char* name, int64_t channels) {
  CAFFE_ENFORCE_EQ(tensor.numel(), channels, "elements of input ", i, " (", name, ") of shape ",
                   tensor.sizes(), ", want one for each channel of input 0 (X)");
  return tensor.data<float>();
}

}  // namespace caffe2rt
