#pragma once
// Local response normalization of a tensor whose channels are neighbours in memory
// (channel_planes.h).

#include <vector>

#include "operators/common/channel_planes.h"
#include "operators/norm/lrn_kernels.h"

namespace caffe2rt {

// y = x * scale^-beta, with the scale of lrn.h, on the threads of the process. y may be x. If
// `scale` is not null, the scale is stored there. The memory of `scratch` is reused in later runs. The padding of the last block of nChw16c becomes
// zero. REQUIRES: the window has at least one channel.
void NormalizeLocally(const ChannelPlanes& planes, const LRNWindow& window, const float* x,
                      std::vector<float>* scratch, float* y, float* scale);

}  // namespace caffe2rt
