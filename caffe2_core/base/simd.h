#pragma once
// Compiles kernels for several instruction sets and selects a version when they are called.
//
// 1. For a plain function (not a template, defined in a .cc file, called by its name):
//
//      CAFFE2RT_SIMD void AddRow(const float* x, int64_t n, float* y) {
//        for (int64_t i = 0; i < n; ++i) y[i] += x[i];
//      }
//
// 2. For a template, write a functor whose operator() is marked CAFFE2RT_SIMD_INLINE. Mark the
// functions that it calls as well: a function that is not inlined is compiled for the baseline
// instruction set.
//
//      template <class F>
//      struct Map {
//        F f;
//        CAFFE2RT_SIMD_INLINE void operator()(const float* x, int64_t n, float* y) const {
//          CAFFE2RT_SIMD_LOOP
//          for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
//        }
//      };
//      RunSimd(Map<F>{f}, x, n, y);   // one well-predicted branch
//
// For very few elements, call the functor directly. Do not pass vectors wider than 16 bytes by
// value to a function that is not inlined. Only one version is compiled under sanitizers, by nvcc,
// and for machines other than x86-64.

#include <type_traits>

#include "caffe2_core/base/host_device.h"
#include "caffe2_core/base/isa.h"

#pragma GCC visibility push(default)
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

// Marks a function to be inlined into the kernels. In a source that nvcc compiles, it is a device
// function as well.
#define CAFFE2RT_SIMD_INLINE CAFFE2RT_HOST_DEVICE __attribute__((always_inline))

// Placed before a loop whose iterations are independent, even if pointers are equal (in-place
// operation). It is empty for clang, which compares the pointers at run time; clang's pragma would
// produce a warning for every loop that is not vectorized.
#if defined(__clang__)
#define CAFFE2RT_SIMD_LOOP
#else
#define CAFFE2RT_SIMD_LOOP _Pragma("GCC ivdep")
#endif

// Not inlined, so that each version of a kernel exists once, wherever it is called.
namespace internal {
template <class Kernel, class... Args>
__attribute__((noinline)) void RunPlain(const Kernel& kernel, Args... args) {
  kernel(args...);
}
#if CAFFE2RT_SIMD_VERSIONS
template <class Kernel, class... Args>
CAFFE2RT_TARGET_AVX512 __attribute__((noinline)) void RunAvx512(const Kernel& kernel,
                                                                Args... args) {
  kernel(args...);
}
template <class Kernel, class... Args>
CAFFE2RT_TARGET_AVX2 __attribute__((noinline)) void RunAvx2(const Kernel& kernel, Args... args) {
  kernel(args...);
}
#endif
}  // namespace internal

#if CAFFE2RT_SIMD_VERSIONS
namespace internal {
// Pointers to numbers other than floats.
template <class Arg>
inline constexpr bool kIsOtherNumbers =
    std::is_pointer_v<Arg> && std::is_arithmetic_v<std::remove_pointer_t<Arg>> &&
    !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Arg>>, float>;
}  // namespace internal
#endif

// Calls kernel(args...) in the version for this machine. The arguments must be numbers or pointers.
// Kernels whose pointers all lead to numbers other than floats have no version for AVX-512: it would
// make the library larger for few nets.
template <class Kernel, class... Args>
void RunSimd(const Kernel& kernel, Args... args) {
#if CAFFE2RT_SIMD_VERSIONS
  const Isa isa = CpuIsa();
  constexpr bool kWide =
      ((std::is_pointer_v<Args> && !internal::kIsOtherNumbers<Args>) || ...) ||
      !(std::is_pointer_v<Args> || ...);
  if constexpr (kWide) {
    if (__builtin_expect(isa == Isa::kAvx512, 1)) return internal::RunAvx512(kernel, args...);
  }
  if (__builtin_expect(isa != Isa::kPlain, 1)) return internal::RunAvx2(kernel, args...);
#endif
  internal::RunPlain(kernel, args...);
}

}  // namespace caffe2rt
#pragma GCC visibility pop
