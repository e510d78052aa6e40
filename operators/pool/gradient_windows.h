#pragma once
// The loops of the gradients of pools, templates over the kind (maximum or mean), compiled for
// several instruction sets.
//
// In NCHW, a row of gradients of windows is first spread: each value is repeated `stride` times, so
// that value c of the result belongs to column c of X. A window that is wider than the stride takes
// several passes with different offsets. Every pass is a loop over contiguous memory. In NHWC, the
// loops are over the channels.
//
// An element gets its additions in the order of the windows, whatever the number of threads.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/pool/gradient_pairs.h"
#include "operators/pool/pool_plan.h"
#include "operators/pool/windows.h"
#include "operators/primitives/lanes.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// dx[i] += g[i] where x[i] == y[i]: all elements that are equal to a maximum get its gradient.
struct AddWhereEqual {
  template <class V>
  static CAFFE2RT_SIMD_INLINE void Add(const float* x, const float* y, const float* g, float* dx) {
    V vx, vy, vg, sum;
    std::memcpy(&vx, x, sizeof(V));
    std::memcpy(&vy, y, sizeof(V));
    std::memcpy(&vg, g, sizeof(V));
    std::memcpy(&sum, dx, sizeof(V));
    const V none = {};
    sum += vx == vy ? vg : none;
    std::memcpy(dx, &sum, sizeof(V));
  }
};
// dx[i] += g[i].
struct AddAll {
  template <class V>
  static CAFFE2RT_SIMD_INLINE void Add(const float*, const float*, const float* g, float* dx) {
    V vg, sum;
    std::memcpy(&vg, g, sizeof(V));
    std::memcpy(&sum, dx, sizeof(V));
    sum += vg;
    std::memcpy(dx, &sum, sizeof(V));
  }
};

// Adds n gradients. Pointers that the kind does not use may be null.
template <class Kind>
CAFFE2RT_SIMD_INLINE inline void AddGradients(const float* x, const float* y, const float* g,
                                              int64_t n, float* dx) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) Kind::template Add<math::Lanes>(x + i, y + i, g + i, dx + i);
  if (i + 8 <= n) Kind::template Add<math::EightLanes>(x + i, y + i, g + i, dx + i), i += 8;
  if (i + 4 <= n) Kind::template Add<math::FourLanes>(x + i, y + i, g + i, dx + i), i += 4;
  for (; i < n; ++i) Kind::template Add<float>(x + i, y + i, g + i, dx + i);
}

// The windows that contain element `i` of the axis: [first, last).
inline CAFFE2RT_SIMD_INLINE Span WindowsOf(const WindowAxis& axis, int64_t i) {
  const int64_t at = i + axis.pad_head;
  if (at < 0) return {0, 0};
  const int64_t first = at < axis.kernel ? 0 : (at - axis.kernel) / axis.stride + 1;
  return {first, std::min(at / axis.stride + 1, axis.out)};
}

// Whether rows of gradients are spread. Otherwise each window is a loop of its own.
inline bool SpreadsRows(const WindowAxis& width) {
  constexpr int64_t kLongestStride = 16;
  return width.stride <= kLongestStride;
}

// y[i * times + j] = x[i] for j in [0, times).
inline CAFFE2RT_SIMD_INLINE void SpreadRow(const float* x, int64_t n, int64_t times, float* y) {
  if (times == 2) {
    for (int64_t i = 0; i < n; ++i) {
      y[2 * i] = x[i];
      y[2 * i + 1] = x[i];
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < times; ++j) *y++ = x[i];
  }
}

// A row of windows whose gradients are spread.
struct WindowRow {
  WindowAxis width;
  float* spread_y;  // out * stride floats each; not used if the stride is 1
  float* spread_dy;

  // `y` and `dy` belong to the windows; `y` may be null. Calls add(column, y, dy, n) for ranges of n
  // columns of X; y and dy then have one value for each column.
  template <class AddTo>
  CAFFE2RT_SIMD_INLINE void Spread(const float* y, const float* dy, const AddTo& add) const {
    const int64_t stride = width.stride, size = width.out * stride;
    if (stride > 1) {
      SpreadRow(dy, width.out, stride, spread_dy);
      dy = spread_dy;
      if (y != nullptr) {
        SpreadRow(y, width.out, stride, spread_y);
        y = spread_y;
      }
    }
    // A pass is for the taps [tap, tap + stride) of all windows. Passes outside X are left out.
    const int64_t first = std::max<int64_t>(0, (width.pad_head - size) / stride) * stride;
    const int64_t last = std::min(width.kernel, width.in + width.pad_head);
    for (int64_t tap = first; tap < last; tap += stride) {
      for (int64_t j = width.kernel - tap; j < stride; ++j) {  // past the end of the kernel
        for (int64_t i = 0; i < width.out; ++i) spread_dy[i * stride + j] = 0;
      }
      const int64_t start = tap - width.pad_head;  // the column of the first value
      const int64_t from = std::max<int64_t>(start, 0), to = std::min(start + size, width.in);
      if (from < to) add(from, y == nullptr ? y : y + from - start, dy + from - start, to - from);
    }
  }
};

// Adds the gradients of a row of windows to all rows of X that the windows cover.
struct AddToCoveredRows {
  const WindowAxis* axis;
  Span depths, rows;
  const float* x;
  float* dx;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t column, const float* y, const float* dy,
                                       int64_t n) const {
    for (int64_t z = depths.first; z < depths.last; ++z) {
      for (int64_t r = rows.first; r < rows.last; ++r) {
        const int64_t at = (z * axis[1].in + r) * axis[2].in + column;
        AddGradients<AddWhereEqual>(x + at, y, dy, n, dx + at);
      }
    }
  }
};
// Adds gradients to one row.
struct AddToOneRow {
  float* dx;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t column, const float*, const float* dy,
                                       int64_t n) const {
    AddGradients<AddAll>(dy, dy, dy, n, dx + column);
  }
};

template <class Kind>
struct PoolGradientPlanes;

// The gradient of the maximum, for planes of NCHW.
template <>
struct PoolGradientPlanes<AddWhereEqual> {
  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan, int64_t planes,
                                       const PoolGradientData* arrays, float* buffer) const {
    const WindowAxis &depth = plan->axis[0], &height = plan->axis[1], &width = plan->axis[2];
    const int64_t size = depth.in * height.in * width.in;
    const bool spread = SpreadsRows(width);
    const WindowRow row{width, buffer, spread ? buffer + width.out * width.stride : nullptr};
    PoolGradientData data = *arrays;
    for (int64_t p = 0; p < planes; ++p, data.x += size, data.dx += size) {
      std::fill_n(data.dx, size, 0.0f);
      for (int64_t i = 0; i < depth.out * height.out; ++i) {
        const AddToCoveredRows add{plan->axis.data(), SpanOf(depth, i / height.out),
                                   SpanOf(height, i % height.out), data.x, data.dx};
        if (spread) {
          row.Spread(data.y, data.dy, add);
        } else {
          for (int64_t j = 0; j < width.out; ++j) {
            const Span w = SpanOf(width, j);
            for (int64_t k = w.first; k < w.last; ++k) add(k, data.y + j, data.dy + j, 1);
          }
        }
        data.y += width.out;
        data.dy += width.out;
      }
    }
  }
};

// The gradient of the mean, for planes of NCHW.
template <>
struct PoolGradientPlanes<AddAll> {
  // Adds up the gradients of the rows of windows [ds, hs), each divided by the number of elements
  // that count for its mean.
  static CAFFE2RT_SIMD_INLINE void SumRows(const PoolPlan& plan, const Span& ds, const Span& hs,
                                           const float* dy, float* sum) {
    const WindowAxis &depth = plan.axis[0], &height = plan.axis[1];
    const int64_t out = plan.axis[2].out;
    std::fill_n(sum, out, 0.0f);
    for (int64_t d = ds.first; d < ds.last; ++d) {
      for (int64_t h = hs.first; h < hs.last; ++h) {
        const int64_t rows = plan.include_pad ? depth.kernel * height.kernel
                                              : SpanOf(depth, d).size() * SpanOf(height, h).size();
        const float share = 1.0f / static_cast<float>(rows);
        const float* const from = dy + (d * height.out + h) * out;
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < out; ++i) sum[i] += from[i] * share;
      }
    }
    const float* const columns = plan.columns.data();
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < out; ++i) sum[i] /= columns[i];
  }

  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan, int64_t planes,
                                       const PoolGradientData* arrays, float* buffer) const {
    const WindowAxis &depth = plan->axis[0], &height = plan->axis[1], &width = plan->axis[2];
    const bool spread = SpreadsRows(width);
    float* const sum = buffer;
    const WindowRow row{width, nullptr, buffer + width.out};
    const float* dy = arrays->dy;
    float* dx = arrays->dx;
    for (int64_t p = 0; p < planes; ++p, dy += depth.out * height.out * width.out) {
      for (int64_t z = 0; z < depth.in; ++z) {
        Span before{-1, -1};
        for (int64_t r = 0; r < height.in; ++r, dx += width.in) {
          const Span hs = WindowsOf(height, r);
          if (hs.first == before.first && hs.last == before.last) {
            std::memcpy(dx, dx - width.in, static_cast<size_t>(width.in) * sizeof(float));
            continue;
          }
          before = hs;
          std::fill_n(dx, width.in, 0.0f);
          SumRows(*plan, WindowsOf(depth, z), hs, dy, sum);
          if (spread) {
            row.Spread(nullptr, sum, AddToOneRow{dx});
            continue;
          }
          for (int64_t i = 0; i < width.out; ++i) {
            const Span w = SpanOf(width, i);
            for (int64_t k = w.first; k < w.last; ++k) dx[k] += sum[i];
          }
        }
      }
    }
  }
};

// The gradient of one window over each of `planes` runs of n elements.
template <class Kind>
struct PoolGradientRuns {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t planes, int64_t n,
                                       const PoolGradientData* arrays) const {
    constexpr bool kMean = std::is_same_v<Kind, AddAll>;
    PoolGradientData data = *arrays;
    for (int64_t p = 0; p < planes; ++p, data.dx += n) {
      if constexpr (kMean) {
        std::fill_n(data.dx, n, data.dy[p] / static_cast<float>(n));
      } else {
        const float largest = data.y[p], gradient = data.dy[p];
        const float* const x = data.x + p * n;
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) data.dx[i] = x[i] == largest ? gradient : 0.0f;
      }
    }
  }
};

// The gradient of `channels` channels of one image of NHWC, from channel `c` on.
template <class Kind>
struct PoolGradientChannels {
  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan_pointer, int64_t channels,
                                       const PoolGradientData* arrays, float* scaled) const {
    constexpr bool kMean = std::is_same_v<Kind, AddAll>;
    const PoolPlan& plan = *plan_pointer;
    PoolGradientData data = *arrays;
    const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
    const int64_t C = plan.channels;
    for (int64_t i = 0; i < depth.in * height.in * width.in; ++i) {
      std::fill_n(data.dx + i * C, channels, 0.0f);
    }
    for (int64_t i = 0; i < depth.out * height.out * width.out; ++i, data.dy += C) {
      const Span d = SpanOf(depth, i / width.out / height.out);
      const Span h = SpanOf(height, i / width.out % height.out);
      const Span w = SpanOf(width, i % width.out);
      const float* g = data.dy;
      if constexpr (kMean) {
        const int64_t rows = plan.include_pad ? depth.kernel * height.kernel : d.size() * h.size();
        const float share =
            1.0f / (plan.columns[static_cast<size_t>(i % width.out)] * static_cast<float>(rows));
        CAFFE2RT_SIMD_LOOP
        for (int64_t c = 0; c < channels; ++c) scaled[c] = g[c] * share;
        g = scaled;
      }
      const float* const y = kMean ? g : data.y + i * C;
      for (int64_t z = d.first; z < d.last; ++z) {
        for (int64_t r = h.first; r < h.last; ++r) {
          int64_t at = ((z * height.in + r) * width.in + w.first) * C;
          for (int64_t k = w.first; k < w.last; ++k, at += C) {
            AddGradients<Kind>(kMean ? g : data.x + at, y, g, channels, data.dx + at);
          }
        }
      }
    }
  }
};

inline constexpr int64_t kChannelsPerTask = 64;

// Floats of scratch memory for one thread.
inline int64_t PoolGradientScratch(const PoolPlan& plan) {
  if (plan.last && plan.channels > 1) return kChannelsPerTask;
  const WindowAxis& width = plan.axis[2];
  if (plan.whole || !SpreadsRows(width)) return AlignedFloats(width.out);
  return AlignedFloats(width.out * (2 * width.stride + 1));
}

// Computes dX. The threads divide the planes in NCHW, and images and groups of channels in NHWC.
template <class Kind>
void RunPoolGradient(const PoolPlan& plan, const PoolGradientData& data, ThreadScratch* scratch) {
  constexpr int64_t kElementsPerPiece = 16384;
  const WindowAxis &depth = plan.axis[0], &height = plan.axis[1], &width = plan.axis[2];
  const int64_t in_size = depth.in * height.in * width.in;
  const int64_t out_size = depth.out * height.out * width.out;
  const bool last = plan.last && plan.channels > 1, pairs = HasPairs(plan);
  const int64_t groups = last ? (plan.channels + kChannelsPerTask - 1) / kChannelsPerTask : 1;
  const int64_t tasks = plan.batch * (last ? groups : plan.channels);
  const int64_t elements = plan.batch * plan.channels * in_size;
  const int64_t pieces =
      std::min({int64_t{GetNumThreads()}, tasks, elements / kElementsPerPiece + 1});
  const int64_t buffer_size = PoolGradientScratch(plan);
  float* const buffers = scratch->Floats(pieces * buffer_size);
  const auto part_at = [&](int64_t x_offset, int64_t y_offset) {
    return PoolGradientData{data.x + x_offset, data.y + y_offset, data.dy + y_offset,
                            data.dx + x_offset};
  };
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    float* const buffer = buffers + piece * buffer_size;
    const int64_t begin = tasks * piece / pieces, end = tasks * (piece + 1) / pieces;
    if (!last) {
      const PoolGradientData part = part_at(begin * in_size, begin * out_size);
      if (plan.whole) {
        RunSimd(PoolGradientRuns<Kind>{}, end - begin, in_size, &part);
      } else if (pairs) {
        RunSimd(PoolGradientPairs<std::is_same_v<Kind, AddAll>>{}, &plan, end - begin, &part);
      } else {
        RunSimd(PoolGradientPlanes<Kind>{}, &plan, end - begin, &part, buffer);
      }
      return;
    }
    for (int64_t task = begin; task < end; ++task) {
      const int64_t image = task / groups, first = task % groups * kChannelsPerTask;
      const PoolGradientData part = part_at(image * in_size * plan.channels + first,
                                            image * out_size * plan.channels + first);
      RunSimd(PoolGradientChannels<Kind>{}, &plan,
              std::min(kChannelsPerTask, plan.channels - first), &part, buffer);
    }
  });
}

}  // namespace caffe2rt
