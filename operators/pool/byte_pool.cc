#include "operators/pool/byte_pool.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

struct MaximumOfBytes {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const uint8_t* x, uint8_t* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
  }
};

// The indices [first, last) inside X of a window.
struct WindowPart {
  int64_t first, last;
};
WindowPart WindowOf(const WindowAxis& axis, int64_t out, int64_t size) {
  const int64_t begin = out * axis.stride - axis.pad_head;
  return {std::max<int64_t>(begin, 0), std::min(begin + axis.kernel, size)};
}

}  // namespace

void MaxPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, const uint8_t* x,
                  uint8_t* y) {
  const int64_t channels = plan.channels;
  const int64_t out_height = plan.whole ? 1 : plan.axis[1].out;
  const int64_t out_width = plan.whole ? 1 : plan.axis[2].out;
  const auto span = [&](size_t axis, int64_t out, int64_t size) {
    return plan.whole ? WindowPart{0, size} : WindowOf(plan.axis[axis], out, size);
  };
  ParallelRanges(plan.batch * out_height, out_width * channels, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const uint8_t* const image = x + row / out_height * height * width * channels;
      const WindowPart rows = span(1, row % out_height, height);
      for (int64_t column = 0; column < out_width; ++column) {
        const WindowPart columns = span(2, column, width);
        uint8_t* const to = y + (row * out_width + column) * channels;
        std::memset(to, 0, static_cast<size_t>(channels));
        for (int64_t r = rows.first; r < rows.last; ++r) {
          for (int64_t c = columns.first; c < columns.last; ++c) {
            RunSimd(MaximumOfBytes{}, channels, image + (r * width + c) * channels, to);
          }
        }
      }
    }
  });
}

}  // namespace caffe2rt
