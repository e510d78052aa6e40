#include "operators/pool/pool_plan.h"

#include <algorithm>
#include <limits>

#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

// Returns the size of the buffer for a padded row, over which windows of stride 1 or 2 slide,
// including what vector loads read past its end. Returns 0 if stepping window by window is faster:
// for long strides, long windows or much cropping.
size_t BufferSize(const WindowAxis& width) {
  constexpr int64_t kLongestKernel = 15, kFarthestPad = 64;
  if (width.stride > 2 || width.kernel > kLongestKernel || width.pad_head < -kFarthestPad) return 0;
  const int64_t reach = (width.out - 1) * width.stride + width.kernel;
  const int64_t filled = std::max<int64_t>(width.pad_head, 0) + width.in;
  return static_cast<size_t>(std::max(reach, filled) + kFarthestPad + 4 * math::kLanes);
}

// Whether there is a single window that covers all of X.
bool CoversAll(const WindowGeometry& geometry) {
  for (int i = 0; i < geometry.axes; ++i) {
    const WindowAxis& axis = geometry.axis[static_cast<size_t>(i)];
    if (axis.out != 1 || axis.kernel != axis.in || axis.pad_head != 0) return false;
  }
  return true;
}

}  // namespace

PoolPlan MakePoolPlan(const WindowGeometry& geometry, bool global, bool include_pad) {
  PoolPlan plan;
  plan.batch = geometry.batch;
  plan.channels = geometry.channels;
  plan.last = geometry.order == StorageOrder::NHWC;
  plan.include_pad = include_pad;
  plan.whole = global || geometry.axes == 0;
  plan.first_wins = !plan.whole && (geometry.axes == 1 || (geometry.axes == 2 && !plan.last));
  plan.lowest = plan.first_wins || (plan.whole && !plan.last)
                    ? -std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::lowest();
  plan.whole = plan.whole || CoversAll(geometry);
  WindowAxis& width = plan.axis[2];
  if (plan.whole) {
    width.in = width.kernel = geometry.in_size();
  } else {
    for (int i = 0; i < geometry.axes; ++i) {
      plan.axis[static_cast<size_t>(3 - geometry.axes + i)] = geometry.axis[static_cast<size_t>(i)];
    }
  }
  if (geometry.batch == 0) return plan;
  plan.columns.resize(static_cast<size_t>(width.out));
  for (int64_t i = 0; i < width.out; ++i) {
    const int64_t start = i * width.stride - width.pad_head;
    const int64_t inside = std::min(start + width.kernel, width.in) - std::max<int64_t>(start, 0);
    plan.columns[static_cast<size_t>(i)] = static_cast<float>(include_pad ? width.kernel : inside);
  }
  if (!plan.last || plan.channels == 1) {
    plan.buffer_size = plan.whole ? 0 : BufferSize(width);
    plan.buffered = plan.buffer_size > 0;
    // A buffer without padding is still needed for the reduced rows.
    if (!plan.buffered && !plan.whole) {
      plan.buffer_size = static_cast<size_t>(std::max<int64_t>(width.pad_head, 0) + width.in);
    }
  }
  return plan;
}

}  // namespace caffe2rt
