#pragma once
// The loops of pools, templates over the reduction (maximum or sum), compiled for several
// instruction sets.
//
// In NCHW, the rows of a window are first reduced to one buffer row with space for the padding, and
// the windows are then reduced along this row. That takes kernel_h + kernel_w steps for each
// element, on contiguous memory. In NHWC, each window is reduced for a vector of channels at a
// time.

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "operators/pool/pool_plan.h"
#include "operators/pool/reductions.h"
#include "operators/primitives/lanes.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

// The part of window `i` that lies inside its axis: [first, last). A window that begins past the
// end of the axis has a negative size; Caffe2 counts with it.
struct Span {
  int64_t first, last;
  int64_t size() const { return last - first; }
};
inline CAFFE2RT_SIMD_INLINE Span SpanOf(const WindowAxis& axis, int64_t i) {
  const int64_t start = i * axis.stride - axis.pad_head;
  const int64_t first = start > 0 ? start : 0;
  const int64_t end = start + axis.kernel;
  const int64_t last = end < axis.in ? end : axis.in;
  return {first, last};
}

// Reduces sixteen windows of stride 1 or 2, the first of which begins at `row`. Reads up to 2 *
// kLanes floats past the last tap.
template <class R, int kStride>
CAFFE2RT_SIMD_INLINE inline void SlideLanes(const float* row, int64_t kernel, math::Lanes& sum) {
  math::Lanes a, b;
  math::Fill(R::kEmpty, sum);
  for (int64_t k = 0; k < kernel; k += kStride) {
    math::Load(row + k, a);
    if constexpr (kStride == 1) {
      R::Add(a, sum);
    } else {
      math::Load(row + k + math::kLanes, b);
      R::Add(
          __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
          sum);
      if (k + 1 < kernel) {
        R::Add(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
                                       31),
               sum);
      }
    }
  }
}

// The parameters that turn a reduction into the value of a window. The mean uses the first two, the
// maximum the last.
struct Ending {
  const float* columns;  // for each window: columns that count for the mean
  float rows;            // rows that count for the mean
  float lowest;          // lower bound of every maximum
};
template <class R>
CAFFE2RT_SIMD_INLINE inline void Finish(const Ending& ending, int64_t i, math::Lanes& sum) {
  math::Lanes other;
  if constexpr (R::kCounts) {
    math::Load(ending.columns + i, other);
    sum /= other * ending.rows;
  } else {
    math::Fill(ending.lowest, other);
    R::Add(other, sum);
  }
}
template <class R>
CAFFE2RT_SIMD_INLINE inline void Finish(const Ending& ending, int64_t i, float& sum) {
  if constexpr (R::kCounts) {
    sum /= ending.columns[i] * ending.rows;
  } else {
    R::Add(ending.lowest, sum);
  }
}

// Computes `out` windows of stride 1 or 2 along a buffer row.
template <class R, int kStride>
CAFFE2RT_SIMD_INLINE inline void SlideRow(const float* row, int64_t kernel, int64_t out,
                                          const Ending& ending, float* y) {
  math::Lanes sum;
  if (out < math::kLanes) {
    SlideLanes<R, kStride>(row, kernel, sum);
    for (int64_t i = 0; i < out; ++i) {
      y[i] = sum[i];
      Finish<R>(ending, i, y[i]);
    }
    return;
  }
  for (int64_t i = 0; i < out; i += math::kLanes) {
    i = i < out - math::kLanes ? i : out - math::kLanes;  // the last vector may overlap
    SlideLanes<R, kStride>(row + i * kStride, kernel, sum);
    Finish<R>(ending, i, sum);
    math::Store(sum, y + i);
  }
}

// Computes windows of any stride along a row without padding; each window is reduced over its part
// of the row.
template <class R>
CAFFE2RT_SIMD_INLINE inline void StepRow(const WindowAxis& width, const float* row,
                                         const Ending& ending, float* y) {
  for (int64_t i = 0; i < width.out; ++i) {
    const Span span = SpanOf(width, i);
    y[i] = ReduceRun<R>(row + span.first, span.size());
    Finish<R>(ending, i, y[i]);
  }
}

// Sets windows to NaN whose first element in the row x is NaN.
inline void MarkNaN(const WindowAxis& width, const float* x, float* y) {
  for (int64_t i = 0; i < width.out; ++i) {
    const Span span = SpanOf(width, i);
    if (span.size() > 0 && x[span.first] != x[span.first]) y[i] = x[span.first];
  }
}

// Pools all planes of an NCHW tensor.
template <class R>
struct PoolPlanes {
  // Reduces the rows of window (d, h) to one row. The result is 0 if the first of them is finite.
  static CAFFE2RT_SIMD_INLINE float GatherRows(const PoolPlan& plan, const float* plane,
                                               const Span& d, const Span& h, float* row) {
    const int64_t H = plan.axis[1].in, W = plan.axis[2].in;
    bool first = true;
    float zero = 0;
    for (int64_t z = d.first; z < d.last; ++z) {
      const float* const x = plane + (z * H + h.first) * W;
      int64_t done = 0;
      if (first) {
        if (h.size() == 3) {
          zero = ReduceRows<R, 3>(x, W, W, row);
          done = 3;
        } else if (h.size() == 2) {
          zero = ReduceRows<R, 2>(x, W, W, row);
          done = 2;
        } else if (h.size() > 0) {
          zero = ReduceRows<R, 1>(x, W, W, row);
          done = 1;
        }
        first = done == 0;
      }
      for (int64_t r = done; r < h.size(); ++r) AddRow<R>(x + r * W, W, row);
    }
    if (first) std::fill_n(row, W, R::kEmpty);
    return zero;
  }

  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan_pointer, int64_t planes, const float* x,
                                       float* buffer, float* y) const {
    const PoolPlan& plan = *plan_pointer;
    const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
    Ending ending{plan.columns.data(), static_cast<float>(depth.kernel * height.kernel),
                  plan.lowest};
    // `row` is column 0 of X in the buffer; `start` is the first column of the first window.
    float* const row = buffer + std::max<int64_t>(width.pad_head, 0);
    const float* const start = row - width.pad_head;
    for (int64_t p = 0; p < planes; ++p, x += depth.in * height.in * width.in) {
      for (int64_t d = 0; d < depth.out; ++d) {
        for (int64_t h = 0; h < height.out; ++h, y += width.out) {
          const Span depths = SpanOf(depth, d), heights = SpanOf(height, h);
          const float zero = GatherRows(plan, x, depths, heights, row);
          if (!plan.include_pad) {
            ending.rows = static_cast<float>(depths.size() * heights.size());
          }
          if (plan.buffered && width.stride == 1) {
            SlideRow<R, 1>(start, width.kernel, width.out, ending, y);
          } else if (plan.buffered) {
            SlideRow<R, 2>(start, width.kernel, width.out, ending, y);
          } else {
            StepRow<R>(width, row, ending, y);
          }
          if (!R::kCounts && zero != 0 && plan.first_wins) {
            MarkNaN(width, x + heights.first * width.in, y);
          }
        }
      }
    }
  }
};

// Computes one window over each of `planes` runs of n elements.
template <class R>
struct PoolRuns {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t planes, int64_t n, bool first_wins, float lowest,
                                       const float* x, float* y) const {
    for (int64_t p = 0; p < planes; ++p, x += n) {
      const float sum = ReduceRun<R>(x, n);
      if constexpr (R::kCounts) {
        y[p] = sum / static_cast<float>(n);
      } else {
        y[p] = sum > lowest ? sum : lowest;
        // A run of nothing but NaN gives NaN, unless `lowest` is finite.
        const bool nothing = sum == R::kEmpty && lowest == R::kEmpty;
        if (x[0] != x[0] && (first_wins || nothing)) y[p] = x[0];
      }
    }
  }
};

// Computes windows [first, last) of an NHWC tensor, counted over all images. X and Y are its
// beginnings.
template <class R>
struct PoolChannels {
  // Reduces channels [c, c + n) of one window; n is at most kLanes.
  static CAFFE2RT_SIMD_INLINE void Window(const PoolPlan& plan, const float* x, const Span& d,
                                          const Span& h, const Span& w, int64_t c, int64_t n,
                                          math::Lanes& sum) {
    const int64_t H = plan.axis[1].in, W = plan.axis[2].in, C = plan.channels;
    math::Lanes v;
    math::Fill(R::kCounts ? R::kEmpty : plan.lowest, sum);
    if (!R::kCounts && plan.first_wins && w.size() > 0) {
      // first_wins implies one axis here: d and h are [0, 1).
      math::LoadFirst(x + w.first * C + c, n, R::kEmpty, sum);
    }
    for (int64_t z = d.first; z < d.last; ++z) {
      for (int64_t r = h.first; r < h.last; ++r) {
        const float* pixel = x + ((z * H + r) * W + w.first) * C + c;
        for (int64_t i = w.first; i < w.last; ++i, pixel += C) {
          if (n == math::kLanes) {
            math::Load(pixel, v);
          } else {
            math::LoadFirst(pixel, n, R::kEmpty, v);
          }
          R::Add(v, sum);
        }
      }
    }
  }

  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan_pointer, int64_t first, int64_t last,
                                       const float* X, float* Y) const {
    const PoolPlan& plan = *plan_pointer;
    const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
    const float kernel_rows = static_cast<float>(depth.kernel * height.kernel);
    const int64_t C = plan.channels, windows = depth.out * height.out * width.out;
    math::Lanes sum;
    for (int64_t begin = first; begin < last;) {  // of the part that lies in one image
      const int64_t b = begin / windows, end = std::min(last, (b + 1) * windows);
      const float* const x = X + b * depth.in * height.in * width.in * C;
      float* y = Y + begin * C;
      const int64_t start = begin - b * windows, stop = end - b * windows;
      begin = end;
      for (int64_t i = start; i < stop; ++i, y += C) {
        const Span d = SpanOf(depth, i / width.out / height.out);
        const Span h = SpanOf(height, i / width.out % height.out);
        const Span w = SpanOf(width, i % width.out);
        float count = 1;
        if constexpr (R::kCounts) {
          count = plan.columns[static_cast<size_t>(i % width.out)] *
                  (plan.include_pad ? kernel_rows : static_cast<float>(d.size() * h.size()));
        }
        int64_t c = 0;
        for (; c + math::kLanes <= C; c += math::kLanes) {
          Window(plan, x, d, h, w, c, math::kLanes, sum);
          if constexpr (R::kCounts) sum /= count;
          math::Store(sum, y + c);
        }
        if (c < C) {
          Window(plan, x, d, h, w, c, C - c, sum);
          if constexpr (R::kCounts) sum /= count;
          math::StoreFirst(sum, C - c, y + c);
        }
      }
    }
  }
};

// PoolPlanes over all planes, divided among threads. Each thread has a row buffer in `scratch`.
template <class R>
void RunPlanes(const PoolPlan& plan, const float* x, std::vector<float>* scratch, float* y) {
  const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
  const int64_t in_size = depth.in * height.in * width.in;
  const int64_t out_size = depth.out * height.out * width.out;
  const int64_t planes = plan.batch * plan.channels;
  const int64_t work = planes * in_size + planes * out_size;
  const int64_t ranges = work < 2 * kParallelGrain ? 1 : std::min<int64_t>(GetNumThreads(), planes);
  const size_t size = plan.buffer_size * static_cast<size_t>(ranges);
  if (scratch->size() != size) scratch->assign(size, R::kEmpty);
  ParallelFor(static_cast<int>(ranges), [&](int range) {
    const int64_t first = planes * range / ranges, last = planes * (range + 1) / ranges;
    RunSimd(PoolPlanes<R>{}, &plan, last - first, x + first * in_size,
            scratch->data() + plan.buffer_size * static_cast<size_t>(range), y + first * out_size);
  });
}

// Computes all windows of the plan. The memory of `scratch` is reused in later runs.
template <class R>
void RunPool(const PoolPlan& plan, const float* x, std::vector<float>* scratch, float* y) {
  const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
  const int64_t in_size = depth.in * height.in * width.in;
  if (plan.last && plan.channels > 1) {
    const int64_t windows = plan.batch * depth.out * height.out * width.out;
    const int64_t steps = plan.channels * (plan.batch * in_size / windows + 1);
    ParallelRanges(windows, steps, [&](int64_t first, int64_t last) {
      RunSimd(PoolChannels<R>{}, &plan, first, last, x, y);
    });
  } else if (plan.whole) {
    ParallelRanges(plan.batch * plan.channels, in_size, [&](int64_t first, int64_t last) {
      RunSimd(PoolRuns<R>{}, last - first, in_size, plan.first_wins, plan.lowest,
              x + first * in_size, y + first);
    });
  } else {
    RunPlanes<R>(plan, x, scratch, y);
  }
}

}  // namespace caffe2rt
