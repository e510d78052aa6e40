#pragma once
// Max and mean pools of a tensor whose channels are neighbours in memory (channel_planes.h). The
// values follow pool.h for NCHW. Runs on the threads of the process.

#include "operators/common/channel_planes.h"
#include "operators/pool/pool_plan.h"

namespace caffe2rt {

// Pools of images: the plan has height and width, or `whole` for one window over each image. X and
// Y have the same layout. The padding of the last block of nChw16c must be zero in X if a mean is
// computed, and is set to zero in Y.
void MaxPoolPlanes(const PoolPlan& plan, const ChannelPlanes& x_planes, const float* x, float* y);
void MeanPoolPlanes(const PoolPlan& plan, const ChannelPlanes& x_planes, const float* x, float* y);

// Y of a pool over X.
inline ChannelPlanes PooledPlanes(const PoolPlan& plan, const ChannelPlanes& x_planes) {
  ChannelPlanes y = x_planes;
  y.height = plan.whole ? 1 : plan.axis[1].out;
  y.width = plan.whole ? 1 : plan.axis[2].out;
  return y;
}

}  // namespace caffe2rt
