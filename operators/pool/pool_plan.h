#pragma once
// The sizes of a pool as plain numbers, for kernels. Includes neither protobuf nor Tensor, so that
// .cu files may include it.

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
  std::array<WindowAxis, 3> axis;  // depth, height, width; missing axes have size 1
  bool include_pad = false;
  bool whole = false;          // one window covers all of X
  std::vector<float> columns;  // for each window along the width: columns that count for the mean
  bool first_wins = false;     // a window whose first element is NaN has maximum NaN
  float lowest = 0;            // lower bound of every maximum
  // Whether windows slide over a buffer that holds a row with its padding, and the size of the row
  // buffer in floats.
  bool buffered = false;
  size_t buffer_size = 0;
};

// The arrays of a gradient, for the shape of X that a plan is for. Y is not used by the mean, but it
// must not be null.
struct PoolGradientData {
  const float* x = nullptr;
  const float* y = nullptr;
  const float* dy = nullptr;
  float* dx = nullptr;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// With `global` there is one window over all axes; their number is not limited.
PoolPlan MakePoolPlan(const WindowGeometry& geometry, bool global, bool include_pad);
#pragma GCC visibility pop

}  // namespace caffe2rt
