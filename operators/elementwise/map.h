#pragma once
// The loops of elementwise operators on the CPU: y[i] = f(x[i]) and y[i] = f(a[i], b[i]), with
// broadcasting.
//
// A function is a struct of plain numbers whose operator() is CAFFE2RT_SIMD_INLINE; the loop is
// compiled for each instruction set around it. Outputs may be inputs (in place) as whole arrays.

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"

namespace caffe2rt {

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
};

// The two innermost loops of a broadcast.
template <class Function>
struct BroadcastKernel {
  Function function;
  template <class T, class R>
  CAFFE2RT_SIMD_INLINE void operator()(BroadcastPlan::Loop inner, BroadcastPlan::Loop middle,
                                       const T* a, const T* b, R* y) const {
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

// Below this many elements the call through the choice of instruction set costs more than it gains.
inline constexpr int64_t kFewElements = 4;

}  // namespace internal

template <class T, class R, class Function>
void Map(CPUContext&, int64_t n, const T* x, R* y, const Function& f) {
  if (n <= internal::kFewElements) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  } else {
    RunSimd(internal::MapKernel<Function>{f}, n, x, y);
  }
}

template <class T, class R, class Function>
void Zip(CPUContext&, int64_t n, const T* a, const T* b, R* y, const Function& f) {
  if (n <= internal::kFewElements) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else {
    RunSimd(internal::ZipKernel<Function>{f}, n, a, b, y);
  }
}

// Over a plan whose output has elements.
template <class T, class R, class Function>
void ZipBroadcast(CPUContext&, const BroadcastPlan& plan, const T* a, const T* b, R* y,
                  const Function& f) {
  const internal::BroadcastKernel<Function> kernel{f};
  plan.ForEachBlock([&](int64_t a_offset, int64_t b_offset, int64_t y_offset) {
    RunSimd(kernel, plan.inner(), plan.middle(), a + a_offset, b + b_offset, y + y_offset);
  });
}

}  // namespace caffe2rt
