#pragma once
// Kernels of ChannelShuffle, on the CPU (channel_shuffle.cc) and on CUDA (channel_shuffle.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// x, y [outer, channels, inner]: y[o, i * group + g, p] = x[o, g * channels / group + i, p].
// REQUIRES: `group` divides `channels`; at least one element.
void InterleaveChannels(CPUContext& context, int64_t outer, int64_t channels, int64_t inner,
                        int64_t group, const float* x, float* y);
void InterleaveChannels(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner,
                        int64_t group, const float* x, float* y);

}  // namespace caffe2rt
