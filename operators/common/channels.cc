#include "operators/common/channels.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

Channels ChannelsOf(const Tensor& X, StorageOrder order) {
  CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X) of shape ", X.sizes(),
                   ", want at least 2: batch and channels");
  Channels channels;
  channels.last = order == StorageOrder::NHWC;
  channels.batch = X.dims()[0];
  channels.count = channels.last ? X.dims().back() : X.dims()[1];
  channels.positions = channels.last ? X.size_between_dim(0, X.dim() - 1) : X.size_from_dim(2);
  return channels;
}

const float* ChannelVector(const Tensor& tensor, int i, const char* name, int64_t channels) {
  CAFFE_ENFORCE_EQ(tensor.numel(), channels, "elements of input ", i, " (", name, ") of shape ",
                   tensor.sizes(), ", want one for each channel of input 0 (X)");
  return tensor.data<float>();
}

}  // namespace caffe2rt
