#include "operators/pool/planes_pool.h"

#include <limits>

#include "operators/pool/windows.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

// A window of one pixel of Y, at the first element inside X.
struct PixelWindow {
  const float* x = nullptr;
  int64_t rows = 0, columns = 0;  // inside X
  int64_t row_stride = 0, column_stride = 0;
};

// Keeps a NaN that is the first element of the window; ignores other NaNs.
struct PlanesMaximum {
  float empty;  // the value of an empty window
  template <class V>
  CAFFE2RT_SIMD_INLINE void Start(const V& x, V& sum) const {
    sum = x;
  }
  template <class V>
  CAFFE2RT_SIMD_INLINE void Add(const V& x, V& sum) const {
    sum = x > sum ? x : sum;
  }
  template <class V>
  CAFFE2RT_SIMD_INLINE void Finish(V&) const {}
};
// Ignores NaN unless all elements are NaN.
struct PlanesMaximumOfAll : PlanesMaximum {
  template <class V>
  CAFFE2RT_SIMD_INLINE void Add(const V& x, V& sum) const {
    const V kept = sum == sum ? sum : x;
    sum = x > sum ? x : kept;
  }
};
struct PlanesMean {
  float count;
  float empty;
  template <class V>
  CAFFE2RT_SIMD_INLINE void Start(const V& x, V& sum) const {
    sum = x;
  }
  template <class V>
  CAFFE2RT_SIMD_INLINE void Add(const V& x, V& sum) const {
    sum += x;
  }
  template <class V>
  CAFFE2RT_SIMD_INLINE void Finish(V& sum) const {
    sum /= V{} + count;
  }
};

// One vector of channels of a window. kTaps above 0: the window has kTaps x kTaps elements.
template <class L, int kTaps, class R>
CAFFE2RT_SIMD_INLINE inline void ReduceWindow(const R& reduction, const PixelWindow& window,
                                              int64_t c, float* y) {
  using Vector = typename L::Vector;
  Vector sum;
  const float* x = window.x + c;
  reduction.Start(Vector(L::At(x).lanes), sum);
  if constexpr (kTaps > 0) {
    CAFFE2RT_UNROLL
    for (int i = 1; i < kTaps * kTaps; ++i) {
      const int64_t at = i / kTaps * window.row_stride + i % kTaps * window.column_stride;
      reduction.Add(Vector(L::At(x + at).lanes), sum);
    }
  } else {
    int64_t first = 1;
    for (int64_t r = 0; r < window.rows; ++r, x += window.row_stride, first = 0) {
      for (int64_t k = first; k < window.columns; ++k) {
        reduction.Add(Vector(L::At(x + k * window.column_stride).lanes), sum);
      }
    }
  }
  reduction.Finish(sum);
  L::At(y + c).lanes = sum;
}

// The lanes [from, to) of a window.
template <class L, int kTaps, class R>
CAFFE2RT_SIMD_INLINE inline void ReduceLanes(const R& reduction, const PixelWindow& window,
                                             int64_t from, int64_t to, float* y) {
  int64_t c = from;
  for (; c + L::kWidth <= to; c += L::kWidth) {
    ReduceWindow<L, kTaps>(reduction, window, c, y);
  }
  if (c == to) return;
  if (to - from >= L::kWidth) {
    ReduceWindow<L, kTaps>(reduction, window, to - L::kWidth, y);  // overlaps
    return;
  }
  for (; c < to; ++c) ReduceWindow<OneLane, kTaps>(reduction, window, c, y);
}

template <class R>
CAFFE2RT_SIMD_INLINE inline R ReductionFor(const PoolPlan& plan, float count);
template <>
CAFFE2RT_SIMD_INLINE inline PlanesMaximum ReductionFor(const PoolPlan& plan, float) {
  return {plan.lowest};
}
template <>
CAFFE2RT_SIMD_INLINE inline PlanesMaximumOfAll ReductionFor(const PoolPlan& plan, float) {
  return {{plan.lowest}};
}
template <>
CAFFE2RT_SIMD_INLINE inline PlanesMean ReductionFor(const PoolPlan&, float count) {
  return {count, 0.0f / count};
}

// `count` windows of the same size, `step` floats apart in X.
template <class L, int kTaps, class R>
CAFFE2RT_SIMD_INLINE inline void ReduceWindows(const R& reduction, PixelWindow window,
                                               int64_t count, int64_t step, int64_t from,
                                               int64_t to, float* y) {
  for (int64_t i = 0; i < count; ++i, window.x += step, y += window.column_stride) {
    ReduceLanes<L, kTaps>(reduction, window, from, to, y);
  }
}

// One row of Y.
template <class L, class R>
CAFFE2RT_SIMD_INLINE inline void PoolRow(const PoolPlan& plan, const ChannelPlanes& planes,
                                         const float* plane, int64_t oh, const PlanesPart& part,
                                         float* y) {
  const WindowAxis &height = plan.axis[1], &width = plan.axis[2];
  const int64_t lanes = planes.lanes(), from = part.first_lane, to = part.last_lane;
  const Span h = plan.whole ? Span{0, planes.height} : SpanOf(height, oh);
  const float kernel_rows = static_cast<float>(height.kernel);
  const float rows = plan.include_pad ? kernel_rows : static_cast<float>(h.size());
  const int64_t out = plan.whole ? 1 : width.out;
  for (int64_t i = 0, count = 1; i < out; i += count, y += count * lanes) {
    const Span w = plan.whole ? Span{0, planes.width} : SpanOf(width, i);
    const float size = plan.whole ? static_cast<float>(planes.pixels())
                                  : plan.columns[static_cast<size_t>(i)] * rows;
    const R reduction = ReductionFor<R>(plan, size);
    count = 1;
    if (h.size() <= 0 || w.size() <= 0) {
      for (int64_t c = from; c < to; ++c) y[c] = reduction.empty;
      continue;
    }
    // The windows that follow and lie inside the row, too.
    if (!plan.whole && w.size() == width.kernel) {
      count = std::max<int64_t>((width.in - w.first - width.kernel) / width.stride + 1, 1);
      count = std::min(count, out - i);
    }
    const PixelWindow window{plane + (h.first * planes.width + w.first) * lanes, h.size(), w.size(),
                             planes.width * lanes, lanes};
    const int64_t step = width.stride * lanes;
    if (h.size() == 3 && w.size() == 3) {
      ReduceWindows<L, 3>(reduction, window, count, step, from, to, y);
    } else if (h.size() == 2 && w.size() == 2) {
      ReduceWindows<L, 2>(reduction, window, count, step, from, to, y);
    } else {
      ReduceWindows<L, 0>(reduction, window, count, step, from, to, y);
    }
  }
}

template <class L, class R>
CAFFE2RT_SIMD_INLINE inline void PoolPart(const PoolPlan& plan, const ChannelPlanes& planes,
                                          const PlanesPart& part, const float* x, float* y) {
  const ChannelPlanes out = PooledPlanes(plan, planes);
  const int64_t row_size = out.width * out.lanes();
  for (int64_t row = part.first_row; row < part.last_row; ++row) {
    const float* const plane = x + row / out.height * planes.plane_size();
    PoolRow<L, R>(plan, planes, plane, row % out.height, part, y + row * row_size);
  }
}

using PartFunction = void(const PoolPlan&, const ChannelPlanes&, const PlanesPart&, const float*,
                          float*);
template <class R>
CAFFE2RT_TARGET_AVX512 void PartAvx512(const PoolPlan& plan, const ChannelPlanes& planes,
                                       const PlanesPart& part, const float* x, float* y) {
  PoolPart<Avx512Lanes, R>(plan, planes, part, x, y);
}
template <class R>
CAFFE2RT_TARGET_AVX2 void PartAvx2(const PoolPlan& plan, const ChannelPlanes& planes,
                                   const PlanesPart& part, const float* x, float* y) {
  PoolPart<Avx2Lanes, R>(plan, planes, part, x, y);
}
template <class R>
void PartPlain(const PoolPlan& plan, const ChannelPlanes& planes, const PlanesPart& part,
               const float* x, float* y) {
  PoolPart<PlainLanes, R>(plan, planes, part, x, y);
}

template <class R>
void RunPlanesPool(const PoolPlan& plan, const ChannelPlanes& planes, const float* x, float* y) {
  const ChannelPlanes out = PooledPlanes(plan, planes);
  if (out.size() == 0) return;
  PartFunction* const run = PickByIsa<PartFunction>(PartAvx512<R>, PartAvx2<R>, PartPlain<R>);
  const int64_t taps = std::max<int64_t>(planes.size() / out.size(), 4);
  ForEachPlanesPart(out, taps, [&](const PlanesPart& part) { run(plan, planes, part, x, y); });
  ClearPadding(out, y);
}

}  // namespace

void MaxPoolPlanes(const PoolPlan& plan, const ChannelPlanes& x_planes, const float* x, float* y) {
  if (plan.first_wins) {
    RunPlanesPool<PlanesMaximum>(plan, x_planes, x, y);
  } else {
    RunPlanesPool<PlanesMaximumOfAll>(plan, x_planes, x, y);
  }
}

void MeanPoolPlanes(const PoolPlan& plan, const ChannelPlanes& x_planes, const float* x, float* y) {
  RunPlanesPool<PlanesMean>(plan, x_planes, x, y);
}

}  // namespace caffe2rt
