#pragma once
// The native CUDA kernels for pools and their gradients, templates over the reduction (maximum,
// mean or norm).
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

// A range [first, last) of indices.
template <class Index>
struct PoolSpan {
  Index first, last;
  CAFFE2RT_HOST_DEVICE Index size() const { return last - first; }
};

template <class Index>
struct PoolAxis {
  Index in, out, kernel, stride, pad;

  explicit PoolAxis(const WindowAxis& axis)
      : in(static_cast<Index>(axis.in)),
        out(static_cast<Index>(axis.out)),
        kernel(static_cast<Index>(axis.kernel)),
        stride(static_cast<Index>(axis.stride)),
        pad(static_cast<Index>(axis.pad_head)) {}
  // The elements of window `i`; see SpanOf in windows.h.
  CAFFE2RT_HOST_DEVICE PoolSpan<Index> Elements(Index i) const {
    const Index start = i * stride - pad, end = start + kernel;
    return {start > 0 ? start : 0, end < in ? end : in};
  }
  // The windows that contain element `i`.
  CAFFE2RT_HOST_DEVICE PoolSpan<Index> Windows(Index i) const {
    const Index at = i + pad;
    if (at < 0) return {0, 0};
    const Index end = at / stride + 1;
    return {at < kernel ? 0 : (at - kernel) / stride + 1, end < out ? end : out};
  }
};

// A thread computes one window. Index is 32-bit if all offsets fit.
template <class R, class Index>
struct PoolWindow {
  PoolAxis<Index> depth, height, width;
  Index channels;
  bool last;
  R reduction;
  const float* x;
  float* y;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    Index rest = static_cast<Index>(index), channel = 0;
    if (last) {
      channel = rest % channels;
      rest /= channels;
    }
    const PoolSpan<Index> w = width.Elements(rest % width.out);
    rest /= width.out;
    const PoolSpan<Index> h = height.Elements(rest % height.out);
    rest /= height.out;
    const PoolSpan<Index> d = depth.Elements(rest % depth.out);
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
  const PoolWindow<R, Index> window{PoolAxis<Index>(plan.axis[0]),
                                    PoolAxis<Index>(plan.axis[1]),
                                    PoolAxis<Index>(plan.axis[2]),
                                    static_cast<Index>(plan.channels),
                                    plan.last,
                                    reduction,
                                    x,
                                    y};
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

// --- gradients ---

// A thread computes the gradient of one element of X from the windows that contain it, so no two
// threads write the same element.
//
// G consists of plain numbers. It has a type Value, and
//   Value Start();  void Add(const PoolTerm<Index>&, Value&);  float Finish(const Value&, float x);
template <class Index>
struct PoolTerm {
  float x, y, dy;
  Index rows, columns;  // elements of the window inside X: rows * columns
};
template <class G, class Index>
struct PoolElement {
  PoolAxis<Index> depth, height, width;
  Index channels;
  bool last;
  G gradient;
  PoolGradientData data;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    Index rest = static_cast<Index>(index), channel = 0;
    if (last) {
      channel = rest % channels;
      rest /= channels;
    }
    const PoolSpan<Index> w = width.Windows(rest % width.in);
    rest /= width.in;
    const PoolSpan<Index> h = height.Windows(rest % height.in);
    rest /= height.in;
    const PoolSpan<Index> d = depth.Windows(rest % depth.in);
    rest /= depth.in;
    const Index step = last ? channels : 1;
    const int64_t from = int64_t{rest} * depth.out * height.out * width.out * step + channel;
    const float x = data.x[index];
    typename G::Value value = gradient.Start();
    for (Index i = d.first; i < d.last; ++i) {
      for (Index j = h.first; j < h.last; ++j) {
        const Index rows = depth.Elements(i).size() * height.Elements(j).size();
        const int64_t row = from + (i * height.out + j) * width.out * step;
        for (Index k = w.first; k < w.last; ++k) {
          const int64_t at = row + k * step;
          gradient.Add(PoolTerm<Index>{x, data.y[at], data.dy[at], rows, width.Elements(k).size()},
                       value);
        }
      }
    }
    data.dx[index] = gradient.Finish(value, x);
  }
};

template <class G, class Index>
void RunElements(CUDAContext& context, const PoolPlan& plan, const G& gradient,
                 const PoolGradientData& data) {
  const PoolElement<G, Index> element{PoolAxis<Index>(plan.axis[0]),
                                      PoolAxis<Index>(plan.axis[1]),
                                      PoolAxis<Index>(plan.axis[2]),
                                      static_cast<Index>(plan.channels),
                                      plan.last,
                                      gradient,
                                      data};
  int64_t inputs = plan.batch * plan.channels;
  for (const WindowAxis& axis : plan.axis) inputs *= axis.in;
  ForEach(context, inputs, element, G::kName);
}
template <class G>
void RunPoolGradient(CUDAContext& context, const PoolPlan& plan, const G& gradient,
                     const PoolGradientData& data) {
  if (FitsInt32(plan)) {
    RunElements<G, int32_t>(context, plan, gradient, data);
  } else {
    RunElements<G, int64_t>(context, plan, gradient, data);
  }
}

}  // namespace caffe2rt::internal
