#pragma once
// Kernels that are compiled for several instruction sets and chosen when they are called.
//
// 1. A plain function (no template, defined in a .cc, called through its name):
//
//      CAFFE2RT_SIMD void AddRow(const float* x, int64_t n, float* y) { for (...) y[i] += x[i]; }
//
// 2. Anything that is a template: a functor whose operator() is CAFFE2RT_SIMD_INLINE, and whose own
// calls are inlined too
//    (mark them so; a function that is not inlined is compiled for the oldest machine):
//
//      template <class F> struct Map {
//        F f;
//        CAFFE2RT_SIMD_INLINE void operator()(const float* x, int64_t n, float* y) const {
//          CAFFE2RT_SIMD_LOOP
//          for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
//        }
//      };
//      RunSimd(Map<F>{f}, x, n, y);      // one well-predicted branch; for very few elements call
//      the functor itself
//
// The choice goes by feature (cpuid), never by vendor. Vectors wider than 16 bytes must not cross a
// call by value. Off, that is one version, under sanitizers and on machines that are not x86-64.

namespace caffe2rt {

#if defined(__x86_64__) && !defined(CAFFE2RT_SANITIZED)
#define CAFFE2RT_SIMD_VERSIONS 1
#else
#define CAFFE2RT_SIMD_VERSIONS 0
#endif

#if CAFFE2RT_SIMD_VERSIONS
#define CAFFE2RT_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CAFFE2RT_SIMD
#endif

#define CAFFE2RT_SIMD_INLINE __attribute__((always_inline))

// Before a loop whose iterations are independent although pointers may be equal (in place). clang
// compares the pointers when the loop starts; its own pragma would warn of every loop that does not
// become vector code.
#if defined(__clang__)
#define CAFFE2RT_SIMD_LOOP
#else
#define CAFFE2RT_SIMD_LOOP _Pragma("GCC ivdep")
#endif

namespace internal {
enum class SimdLevel { kBaseline, kAvx2, kAvx512 };

// What this machine has; asked once.
inline SimdLevel DetectSimdLevel() {
#if CAFFE2RT_SIMD_VERSIONS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return SimdLevel::kAvx512;
  }
  return avx2 ? SimdLevel::kAvx2 : SimdLevel::kBaseline;
#else
  return SimdLevel::kBaseline;
#endif
}
inline SimdLevel CpuSimdLevel() {
  static const SimdLevel level = DetectSimdLevel();
  return level;
}

#if CAFFE2RT_SIMD_VERSIONS
template <class Kernel, class... Args>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"), noinline)) void RunAvx512(
    const Kernel& kernel, Args... args) {
  kernel(args...);
}
template <class Kernel, class... Args>
__attribute__((target("avx2,fma"), noinline)) void RunAvx2(const Kernel& kernel, Args... args) {
  kernel(args...);
}
#endif
}  // namespace internal

// Calls kernel(args...), in the version for this machine. The arguments are plain numbers and
// pointers.
template <class Kernel, class... Args>
void RunSimd(const Kernel& kernel, Args... args) {
#if CAFFE2RT_SIMD_VERSIONS
  const internal::SimdLevel level = internal::CpuSimdLevel();
  if (__builtin_expect(level == internal::SimdLevel::kAvx512, 1)) {
    return internal::RunAvx512(kernel, args...);
  }
  if (level == internal::SimdLevel::kAvx2) return internal::RunAvx2(kernel, args...);
#endif
  kernel(args...);
}

}  // namespace caffe2rt
