#pragma once
// The gradients of the operands of y[i] = f(a[i], b[i]) with broadcasting: the CPU implementation,
// and declarations for CUDA, which a .cu file instantiates (operand_gradient.cuh).
//
// The gradient of an operand's element is the sum of f.GradientA(a, b, y, dy), or GradientB, over
// the elements of y that it was broadcast to.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/common/broadcast_loops.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

enum class Operand { kA, kB };

namespace internal {

template <Operand kOperand>
int64_t StrideOf(const BroadcastLoop& loop) {
  return kOperand == Operand::kA ? loop.a_stride : loop.b_stride;
}

// Calls visit(loop) for each loop of more than one step, outermost first.
template <class Visit>
void ForEachLoop(const BroadcastLoops& loops, const Visit& visit) {
  const auto visit_long = [&visit](const BroadcastLoop& loop) {
    if (loop.size > 1) visit(loop);
  };
  for (int i = 0; i < loops.outer_count; ++i) visit_long(loops.outer[static_cast<size_t>(i)]);
  visit_long(loops.middle);
  visit_long(loops.inner);
}

// The number of elements of the operand. If it equals loops.output_size, no dimension of the
// operand is broadcast.
template <Operand kOperand>
int64_t SizeOf(const BroadcastLoops& loops) {
  int64_t size = 1;
  ForEachLoop(loops, [&size](const BroadcastLoop& loop) {
    if (StrideOf<kOperand>(loop) != 0) size *= loop.size;
  });
  return size;
}

template <Operand kOperand, class Function, class T>
CAFFE2RT_SIMD_INLINE inline T OperandGradientOf(const Function& f, T a, T b, T y, T dy) {
  if constexpr (kOperand == Operand::kA) {
    return f.GradientA(a, b, y, dy);
  } else {
    return f.GradientB(a, b, y, dy);
  }
}

// The two innermost loops of a broadcast. If kAdd is true, adds to `out`; otherwise the operand is
// not broadcast, and `out` may equal dy.
template <Operand kOperand, bool kAdd, class Function>
struct OperandGradientKernel {
  Function function;

  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(BroadcastLoop inner, BroadcastLoop middle, const T* a,
                                       const T* b, const T* y, const T* dy, T* out) const {
    for (int64_t j = 0; j < middle.size; ++j) {
      if (inner.a_stride == 0) {
        Run<false, true>(inner.size, a, b, y, dy, out);
      } else if (inner.b_stride == 0) {
        Run<true, false>(inner.size, a, b, y, dy, out);
      } else {
        Run<true, true>(inner.size, a, b, y, dy, out);
      }
      a += middle.a_stride;
      b += middle.b_stride;
      y += inner.size;
      dy += inner.size;
      out += StrideOfOut(middle);
    }
  }

 private:
  CAFFE2RT_SIMD_INLINE static int64_t StrideOfOut(const BroadcastLoop& loop) {
    return kOperand == Operand::kA ? loop.a_stride : loop.b_stride;
  }

  template <bool kMovesA, bool kMovesB, class T>
  struct Terms {
    const Function f;
    const T* const a;
    const T* const b;
    const T* const y;
    const T* const dy;
    CAFFE2RT_SIMD_INLINE T operator()(int64_t i) const {
      return OperandGradientOf<kOperand>(f, a[kMovesA ? i : 0], b[kMovesB ? i : 0], y[i], dy[i]);
    }
  };

  template <bool kMovesA, bool kMovesB, class T>
  CAFFE2RT_SIMD_INLINE void Run(int64_t n, const T* a, const T* b, const T* y, const T* dy,
                                T* out) const {
    const Terms<kMovesA, kMovesB, T> at{function, a, b, y, dy};
    if constexpr (kOperand == Operand::kA ? kMovesA : kMovesB) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) out[i] = kAdd ? math::WrappingAdd(out[i], at(i)) : at(i);
    } else {
      // One partial sum for each lane of a vector.
      constexpr int64_t kLanes = 64 / sizeof(T);
      T lanes[kLanes] = {};
      int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) {
        CAFFE2RT_SIMD_LOOP
        for (int64_t k = 0; k < kLanes; ++k) lanes[k] = math::WrappingAdd(lanes[k], at(i + k));
      }
      T sum = 0;
      for (; i < n; ++i) sum = math::WrappingAdd(sum, at(i));
      for (int64_t k = 0; k < kLanes; ++k) sum = math::WrappingAdd(sum, lanes[k]);
      *out = math::WrappingAdd(*out, sum);
    }
  }
};

}  // namespace internal

// out = the gradient of one operand. If the operand is not broadcast, `out` may equal dy. a, b and
// y must be readable even if the function does not depend on them. REQUIRES: loops.output_size > 0.
template <Operand kOperand, class T, class Function>
void OperandGradient(CPUContext&, const BroadcastLoops& loops, const T* a, const T* b, const T* y,
                     const T* dy, T* out, const Function& f) {
  const int64_t size = internal::SizeOf<kOperand>(loops);
  const auto run = [&](const auto& kernel) {
    loops.ForEachBlock([&](int64_t a_offset, int64_t b_offset, int64_t y_offset) {
      const int64_t out_offset = kOperand == Operand::kA ? a_offset : b_offset;
      RunSimd(kernel, loops.inner, loops.middle, a + a_offset, b + b_offset, y + y_offset,
              dy + y_offset, out + out_offset);
    });
  };
  if (size == loops.output_size) {
    run(internal::OperandGradientKernel<kOperand, false, Function>{f});
  } else {
    std::fill(out, out + size, T(0));
    run(internal::OperandGradientKernel<kOperand, true, Function>{f});
  }
}
template <Operand kOperand, class T, class Function>
void OperandGradient(CUDAContext& context, const BroadcastLoops& loops, const T* a, const T* b,
                     const T* y, const T* dy, T* out, const Function& f);

// Sets n elements to 0.
template <class T>
void SetToZero(CPUContext&, int64_t n, T* x) {
  std::fill(x, x + n, T(0));
}
template <class T>
void SetToZero(CUDAContext& context, int64_t n, T* x);

}  // namespace caffe2rt
