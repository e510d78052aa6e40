#pragma once
// Kernels that are compiled for several instruction sets and chosen when they are called.
//
// 1. A plain function (no template, defined in a .cc, called through its name):
//
//      CAFFE2RT_SIMD void AddRow(const float* x, int64_t n, float* y) { for (...) y[i] += x[i]; }
//
// 2. Anything that is a template: a functor whose operator() is CAFFE2RT_SIMD_INLINE, and whose own
// calls are inlined too (mark them so; a function that is not inlined is compiled for the oldest
// machine):
//
//      template <class F> struct Map {
//        F f;
//        CAFFE2RT_SIMD_INLINE void operator()(const float* x, int64_t n, float* y) const {
//          CAFFE2RT_SIMD_LOOP
//          for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
//        }
//      };
//      RunSimd(Map<F>{f}, x, n, y);   // one well-predicted branch
//
// For very few elements call the functor itself. Vectors wider than 16 bytes must not cross a call
// by value. Off, that is one version, under sanitizers and on machines that are not x86-64.

#include "caffe2_core/base/host_device.h"
#include "caffe2_core/base/isa.h"

namespace caffe2rt {

#if defined(__x86_64__) && !defined(CAFFE2RT_SANITIZED) && !defined(__CUDACC__)
#define CAFFE2RT_SIMD_VERSIONS 1
#else
#define CAFFE2RT_SIMD_VERSIONS 0
#endif

#if CAFFE2RT_SIMD_VERSIONS
#define CAFFE2RT_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CAFFE2RT_SIMD
#endif

// An element function is a device function, too, where a source for nvcc includes it.
#define CAFFE2RT_SIMD_INLINE CAFFE2RT_HOST_DEVICE __attribute__((always_inline))

// Before a loop whose iterations are independent although pointers may be equal (in place). clang
// compares the pointers when the loop starts; its own pragma would warn of every loop that does not
// become vector code.
#if defined(__clang__)
#define CAFFE2RT_SIMD_LOOP
#else
#define CAFFE2RT_SIMD_LOOP _Pragma("GCC ivdep")
#endif

#if CAFFE2RT_SIMD_VERSIONS
namespace internal {
template <class Kernel, class... Args>
CAFFE2RT_TARGET_AVX512 __attribute__((noinline)) void RunAvx512(const Kernel& kernel,
                                                                Args... args) {
  kernel(args...);
}
template <class Kernel, class... Args>
CAFFE2RT_TARGET_AVX2 __attribute__((noinline)) void RunAvx2(const Kernel& kernel, Args... args) {
  kernel(args...);
}
}  // namespace internal
#endif

// Calls kernel(args...), in the version for this machine. The arguments are plain numbers and
// pointers.
template <class Kernel, class... Args>
void RunSimd(const Kernel& kernel, Args... args) {
#if CAFFE2RT_SIMD_VERSIONS
  const Isa isa = CpuIsa();
  if (__builtin_expect(isa == Isa::kAvx512, 1)) return internal::RunAvx512(kernel, args...);
  if (isa == Isa::kAvx2) return internal::RunAvx2(kernel, args...);
#endif
  kernel(args...);
}

}  // namespace caffe2rt
