#pragma once
// ChannelOrder: copies a tensor whose channels are neighbours in memory (channel_planes.h) with its
// channels in another order, for example shuffled.
//
//   ChannelOrder order;
//   order.Plan(planes, [&](int64_t c) { return ... });   // channel c of Y is that channel of X
//   order.Run(x, y);                                     // as often as wanted
//
// Used by one thread at a time; Run uses the threads of the process. In the steady state nothing is
// allocated.

#include <array>
#include <functional>
#include <vector>

#include "operators/common/channel_planes.h"

namespace caffe2rt {

class ChannelOrder {
 public:
  // `source(c)` is in [0, channels).
  void Plan(const ChannelPlanes& planes, const std::function<int64_t(int64_t)>& source);
  // x and y do not overlap. The padding of the last block of nChw16c becomes zero.
  void Run(const float* x, float* y) const;

  // A vector of channels of X that contributes to a vector of Y: 16, or 8 with AVX2. Lane i of Y's
  // vector becomes lane lanes[i] - 16 (or 8) of X's vector, or keeps its value if lanes[i] is i.
  struct Step {
    int64_t offset = 0;  // of the vector from the pixel in X
    alignas(64) std::array<int32_t, 16> lanes = {};
  };
  // A vector of Y, computed by steps [first, last).
  struct Target {
    int64_t offset = 0;  // from the pixel in Y
    int64_t first = 0, last = 0;
    int64_t lanes = 0;                     // that are written
    std::array<int64_t, 16> sources = {};  // from the pixel in X; -1: zero
  };

 private:
  // The offset from the pixel of a channel, or of the vector that begins with it.
  int64_t OffsetOf(int64_t channel) const {
    if (!planes_.blocked) return channel;
    return channel / kChannelBlock * planes_.plane_size() + channel % kChannelBlock;
  }
  // The steps for a vector of Y from `used` channels of X. If `aligned`, only vectors of X that
  // begin at a multiple of 16 are used, as always in nChw16c.
  std::vector<Step> StepsFor(const std::array<int64_t, 16>& channels, int64_t used,
                             bool aligned) const;
  void AddTarget(int64_t channel, const std::function<int64_t(int64_t)>& source);

  ChannelPlanes planes_;
  int64_t width_ = kChannelBlock;  // of a vector
  std::vector<Target> targets_;
  std::vector<Step> steps_;
};

}  // namespace caffe2rt
