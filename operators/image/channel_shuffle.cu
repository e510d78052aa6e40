#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/channel_shuffle_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one element.
template <class Index>
struct Interleave {
  Index channels, inner, group;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), place = at % inner;
    const Index channel = at / inner % channels, outer = at / inner / channels;
    const Index source = channel % group * (channels / group) + channel / group;
    y[i] = x[(static_cast<int64_t>(outer) * channels + source) * inner + place];
  }
};

}  // namespace

void InterleaveChannels(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner,
                        int64_t group, const float* x, float* y) {
  const int64_t n = outer * channels * inner;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Interleave<Index> interleave{static_cast<Index>(channels), static_cast<Index>(inner),
                                       static_cast<Index>(group), x, y};
    ForEach(context, n, interleave, "ChannelShuffle");
  });
}

}  // namespace caffe2rt
