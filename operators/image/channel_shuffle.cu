#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/channel_shuffle.h"

namespace caffe2rt {

namespace {

// A thread writes one element. Elements after a channel: its positions, or none where channels are
// last.
template <class Index>
struct Interleave {
  Index channels, group, after;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), place = at % after;
    const Index channel = at / after % channels, picture = at / after / channels;
    const Index source = channel % group * (channels / group) + channel / group;
    y[i] = x[(static_cast<int64_t>(picture) * channels + source) * after + place];
  }
};

}  // namespace

void InterleaveChannels(CUDAContext& context, const Channels& shape, int64_t group, const float* x,
                        float* y) {
  const int64_t n = shape.batch * shape.count * shape.positions;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Interleave<Index> interleave{static_cast<Index>(shape.count), static_cast<Index>(group),
                                       static_cast<Index>(shape.last ? 1 : shape.positions), x, y};
    ForEach(context, n, interleave, "ChannelShuffle");
  });
}

void RegisterChannelShuffleCuda() {
  RegisterOperator<ChannelShuffleOp<CUDAContext>>(CUDA, "ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
