#pragma once
// Copies of channel ranges between tensors whose channels are neighbours in memory
// (channel_planes.h), for Concat and Split on IDEEP.

#include "operators/common/channel_planes.h"

namespace caffe2rt {

// A range of channels of a tensor.
struct ChannelRange {
  int64_t first = 0, count = 0;
};

// The address of channel `first` of image 0, pixel 0, for ranges that are parts of `planes` as they
// are: the range is a dense tensor in nChw16c if there is one image and the range begins at a
// multiple of 16. Returns -1 if the range is not such a part.
int64_t OffsetOfDensePart(const ChannelPlanes& planes, ChannelRange range);

// Copies all channels of `part` to channels [first, first + part.channels) of `whole` (ToWhole), or
// back (ToPart). Both have the same layout, batch and pixels. Runs on the threads of the process.
// Nothing is copied if the memory is the same, as for a part that OffsetOfDensePart describes. The
// padding of the last block becomes zero once all parts are copied.
void CopyToWhole(const ChannelPlanes& whole, int64_t first, const ChannelPlanes& part,
                 const float* from, float* to);
void CopyToPart(const ChannelPlanes& whole, int64_t first, const ChannelPlanes& part,
                const float* from, float* to);

}  // namespace caffe2rt
