#pragma once
// The kernels of RoIAlign on the CPU, for one RoI and kLanes channels.

#include <cstdint>

#include "operators/detection/roi_taps.h"

namespace caffe2rt {

// One RoI in one block of channels. The distances are in floats.
struct BlockTask {
  const RoiTaps* roi;
  const BinTaps* bins;
  const float* weights;
  int64_t pooled_h, pooled_w;
  int64_t row_distance, pixel_distance;  // in the image
  int64_t bin_distance;                  // in the output
  float* sums;                           // kLanes floats for each column of the RoI
};

using BlockFunction = void(const BlockTask& task, const float* from, float* to);

// to[bin] = the average of the bin. `from` is where pixel (0, 0) of the image is, or would be.
BlockFunction* AlignBlockFunction();
// Adds the gradients from[bin] of the bins to the image `to`.
BlockFunction* AddBlockFunction();

}  // namespace caffe2rt
