#pragma once
// The loops of elementwise operators, y[i] = f(x[i]), y[i] = f(a[i], b[i]) with broadcasting, and
// y[i] = f(a[i], b[i], c[i]): the CPU implementation, and declarations for CUDA, which a .cu file instantiates (map.cuh).
//
// A function is a struct of plain numbers whose operator() is CAFFE2RT_SIMD_INLINE. On the CPU the
// loop around it is compiled once for each instruction set. An output may be the same array as an
// input (in place), but must not overlap it partially.

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/common/broadcast_loops.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

namespace internal {

template <class Function>
struct MapKernel {
  Function function;
  template <class T, class R>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const T* x, R* y) const {
    const Function f = function;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  }
};

template <class Function>
struct ZipKernel {
  Function function;
  template <class T, class R>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const T* a, const T* b, R* y) const {
    const Function f = function;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  }
  template <class T, class R>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const T* a, const T* b, const T* c, R* y) const {
    const Function f = function;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i], c[i]);
  }
};

// The two innermost loops of a broadcast.
template <class Function>
struct BroadcastKernel {
  Function function;
  template <class T, class R>
  CAFFE2RT_SIMD_INLINE void operator()(BroadcastLoop inner, BroadcastLoop middle, const T* a,
                                       const T* b, R* y) const {
    const Function f = function;
    const int64_t n = inner.size;
    for (int64_t j = 0; j < middle.size; ++j) {
      if (inner.a_stride == 0) {
        const T first = *a;
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) y[i] = f(first, b[i]);
      } else if (inner.b_stride == 0) {
        const T second = *b;
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], second);
      } else {
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
      }
      a += middle.a_stride;
      b += middle.b_stride;
      y += n;
    }
  }
};

// Divides the middle loop of a block among threads; without one, the inner loop.
template <class T, class R, class Function>
void RunBlock(const BroadcastKernel<Function>& kernel, const BroadcastLoop& inner,
              const BroadcastLoop& middle, const T* a, const T* b, R* y) {
  if (middle.size > 1) {
    ParallelRanges(middle.size, inner.size, [&](int64_t first, int64_t last) {
      RunSimd(kernel, inner, BroadcastLoop{last - first, middle.a_stride, middle.b_stride},
              a + first * middle.a_stride, b + first * middle.b_stride, y + first * inner.size);
    });
  } else {
    ParallelElements(inner.size, [&](int64_t first, int64_t last) {
      RunSimd(kernel, BroadcastLoop{last - first, inner.a_stride, inner.b_stride}, middle,
              a + first * inner.a_stride, b + first * inner.b_stride, y + first);
    });
  }
}

// With this many elements or fewer, selecting the instruction set costs more than it gains.
inline constexpr int64_t kFewElements = 4;

}  // namespace internal

template <class T, class R, class Function>
void Map(CPUContext&, int64_t n, const T* x, R* y, const Function& f) {
  if (n <= internal::kFewElements) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  } else {
    ParallelElements(n, [&](int64_t first, int64_t last) {
      RunSimd(internal::MapKernel<Function>{f}, last - first, x + first, y + first);
    });
  }
}

template <class T, class R, class Function>
void Map(CUDAContext& context, int64_t n, const T* x, R* y, const Function& f);

template <class T, class R, class Function>
void Zip(CPUContext&, int64_t n, const T* a, const T* b, R* y, const Function& f) {
  if (n <= internal::kFewElements) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else {
    ParallelElements(n, [&](int64_t first, int64_t last) {
      RunSimd(internal::ZipKernel<Function>{f}, last - first, a + first, b + first, y + first);
    });
  }
}

template <class T, class R, class Function>
void Zip(CUDAContext& context, int64_t n, const T* a, const T* b, R* y, const Function& f);

template <class T, class R, class Function>
void Zip(CPUContext&, int64_t n, const T* a, const T* b, const T* c, R* y, const Function& f) {
  if (n <= internal::kFewElements) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i], c[i]);
  } else {
    ParallelElements(n, [&](int64_t first, int64_t last) {
      RunSimd(internal::ZipKernel<Function>{f}, last - first, a + first, b + first, c + first,
              y + first);
    });
  }
}

template <class T, class R, class Function>
void Zip(CUDAContext& context, int64_t n, const T* a, const T* b, const T* c, R* y,
         const Function& f);

// REQUIRES: loops.output_size > 0.
template <class T, class R, class Function>
void ZipBroadcast(CPUContext&, const BroadcastLoops& loops, const T* a, const T* b, R* y,
                  const Function& f) {
  const internal::BroadcastKernel<Function> kernel{f};
  loops.ForEachBlock([&](int64_t a_offset, int64_t b_offset, int64_t y_offset) {
    internal::RunBlock(kernel, loops.inner, loops.middle, a + a_offset, b + b_offset, y + y_offset);
  });
}
template <class T, class R, class Function>
void ZipBroadcast(CUDAContext& context, const BroadcastLoops& loops, const T* a, const T* b, R* y,
                  const Function& f);

// If a divisor is 0, the next wait for the stream THROWS. binary.h has the CPU implementation.
template <class T>
void RequireNonZero(CUDAContext& context, const T* b, int64_t n);

}  // namespace caffe2rt
