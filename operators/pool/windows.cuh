#pragma once
// The native CUDA kernels for pools, templates over the reduction (maximum or mean).
//
// A reduction R consists of plain numbers. It has a type State and
//   State Start();  void Add(float x, State&);  float Finish(const State&, rows, columns);
// `rows` (over all axes but the last) and `columns` are the sizes of the part of the window inside
// X, as in windows.h. For global pools it also has FinishRun, and Join, which combines two states.

#include <cstdint>
#include <limits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/pool/pool_kernels.h"

namespace caffe2rt::internal {

// A thread computes one window. Index is 32-bit if all offsets fit.
template <class R, class Index>
struct PoolWindow {
  struct Axis {
    Index in, out, kernel, stride, pad;
  };
  Axis depth, height, width;
  Index channels;
  bool last;
  R reduction;
  const float* x;
  float* y;

  // See SpanOf in windows.h.
  struct Span {
    Index first, last;
    CAFFE2RT_HOST_DEVICE Index size() const { return last - first; }
  };
  static CAFFE2RT_HOST_DEVICE Span SpanOf(const Axis& axis, Index i) {
    const Index start = i * axis.stride - axis.pad, end = start + axis.kernel;
    return {start > 0 ? start : 0, end < axis.in ? end : axis.in};
  }

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    Index rest = static_cast<Index>(index), channel = 0;
    if (last) {
      channel = rest % channels;
      rest /= channels;
    }
    const Span w = SpanOf(width, rest % width.out);
    rest /= width.out;
    const Span h = SpanOf(height, rest % height.out);
    rest /= height.out;
    const Span d = SpanOf(depth, rest % depth.out);
    rest /= depth.out;  // index of the image (NHWC) or of the plane (NCHW)
    const Index step = last ? channels : 1;
    const float* const from = x + int64_t{rest} * depth.in * height.in * width.in * step + channel;
    typename R::State state = reduction.Start();
    for (Index i = d.first; i < d.last; ++i) {
      for (Index j = h.first; j < h.last; ++j) {
        const float* const row = from + (i * height.in + j) * width.in * step;
        for (Index k = w.first; k < w.last; ++k) reduction.Add(row[k * step], state);
      }
    }
    y[index] = reduction.Finish(state, static_cast<float>(d.size() * h.size()),
                                static_cast<float>(w.size()));
  }
};

// A block reduces one plane to one number.
template <class R>
struct PoolRun {
  int64_t size;
  R reduction;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const from = x + row.index() * size;
    const R r = reduction;
    const typename R::State state = row.Reduce(size, r.Start(), typename R::Join(), [=](int64_t i) {
      typename R::State one = r.Start();
      r.Add(from[i], one);
      return one;
    });
    const int64_t n = size;
    float* const to = y + row.index();
    row.Once([=] { *to = r.FinishRun(state, from, n); });
  }
};

template <class R, class Index>
void RunWindows(CUDAContext& context, const PoolPlan& plan, const R& reduction, const float* x,
                float* y) {
  PoolWindow<R, Index> window;
  const auto narrow = [](const WindowAxis& axis) {
    return typename PoolWindow<R, Index>::Axis{
        static_cast<Index>(axis.in), static_cast<Index>(axis.out), static_cast<Index>(axis.kernel),
        static_cast<Index>(axis.stride), static_cast<Index>(axis.pad_head)};
  };
  window.depth = narrow(plan.axis[0]);
  window.height = narrow(plan.axis[1]);
  window.width = narrow(plan.axis[2]);
  window.channels = static_cast<Index>(plan.channels);
  window.last = plan.last;
  window.reduction = reduction;
  window.x = x;
  window.y = y;
  int64_t outputs = plan.batch * plan.channels;
  for (const WindowAxis& axis : plan.axis) outputs *= axis.out;
  ForEach(context, outputs, window, R::kName);
}

// Whether every index of the plan fits 32 bits, including steps past the end of an axis.
inline bool FitsInt32(const PoolPlan& plan) {
  constexpr int64_t kLargest = int64_t{1} << 28;
  int64_t in = plan.batch * plan.channels, out = in;
  for (const WindowAxis& axis : plan.axis) {
    in *= axis.in;
    out *= axis.out;
    if (axis.kernel > kLargest || axis.stride > kLargest || axis.pad_head > kLargest ||
        axis.pad_head < -kLargest || axis.in > kLargest) {
      return false;
    }
  }
  return in < std::numeric_limits<int32_t>::max() && out < std::numeric_limits<int32_t>::max();
}

template <class R>
void RunPool(CUDAContext& context, const PoolPlan& plan, const R& reduction, const float* x,
             float* y) {
  if (plan.whole && (!plan.last || plan.channels == 1)) {
    const PoolRun<R> run{plan.axis[2].in, reduction, x, y};
    ForEachRow(context, plan.batch * plan.channels, run, R::kName);
  } else if (FitsInt32(plan)) {
    RunWindows<R, int32_t>(context, plan, reduction, x, y);
  } else {
    RunWindows<R, int64_t>(context, plan, reduction, x, y);
  }
}

}  // namespace caffe2rt::internal
