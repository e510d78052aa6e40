#pragma once
// The boxes of PriorBox, and their kernels on the CPU (prior_box.cc) and on CUDA (prior_box.cu).

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct PriorBoxSize {
  float width = 0, height = 0;
};

// What all boxes of a map have in common.
struct PriorBoxMap {
  int64_t height = 0, width = 0;   // positions
  int64_t boxes = 0;               // of a position
  float image_h = 0, image_w = 0;  // pixels
  float step_h = 0, step_w = 0;    // pixels between two positions
  float offset = 0;                // of the first position, in steps
  float variances[4] = {};
  bool clip = false;

  CAFFE2RT_HOST_DEVICE int64_t count() const { return height * width * boxes; }

  // Writes box `box` of the position in this row and column, and its variances.
  CAFFE2RT_HOST_DEVICE void Write(int64_t row, int64_t column, int64_t box,
                                  const PriorBoxSize& size, float* y) const {
    const float center_x = (static_cast<float>(column) + offset) * step_w;
    const float center_y = (static_cast<float>(row) + offset) * step_h;
    const float edges[] = {
        (center_x - size.width / 2) / image_w, (center_y - size.height / 2) / image_h,
        (center_x + size.width / 2) / image_w, (center_y + size.height / 2) / image_h};
    float* const to = y + ((row * width + column) * boxes + box) * 4;
    for (int i = 0; i < 4; ++i) {
      const float edge = edges[i];
      to[i] = !clip ? edge : edge < 0 ? 0 : edge > 1 ? 1 : edge;
      to[count() * 4 + i] = variances[i];
    }
  }
};

// Writes Y [1, 2, count() * 4]. `sizes` are those of the boxes of a position, in the memory of the
// host; they may change after the call.
void MakePriorBoxes(CPUContext& context, const PriorBoxMap& map, const PriorBoxSize* sizes,
                    float* y);
void MakePriorBoxes(CUDAContext& context, const PriorBoxMap& map, const PriorBoxSize* sizes,
                    float* y);

}  // namespace caffe2rt
