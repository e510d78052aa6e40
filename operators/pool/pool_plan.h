#pragma once
// The sizes of a pool, in plain numbers, for kernels. Without protobuf and Tensor, so that .cu
// files may include it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "operators/common/window_geometry.h"

namespace caffe2rt {

// A pool for one shape of X.
struct PoolPlan {
  int64_t batch = 0;
  int64_t channels = 0;
  bool last = false;               // NHWC
  std::array<WindowAxis, 3> axis;  // depth, height, width; axes that X does not have are of size 1
  bool include_pad = false;
  bool whole = false;          // one window over everything
  std::vector<float> columns;  // by window along the width: columns the mean counts
  bool first_wins = false;     // a window whose first element is NaN has maximum NaN
  float lowest = 0;            // no maximum is below
  // A row of X with its padding, when windows slide over such a buffer.
  bool buffered = false;
  size_t buffer_size = 0;
};
// Global pools have one window over all axes, however many.
PoolPlan MakePoolPlan(const WindowGeometry& geometry, bool global, bool include_pad);

}  // namespace caffe2rt
