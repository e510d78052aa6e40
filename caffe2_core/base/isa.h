#pragma once
// The instruction set of this machine, detected from CPU features (cpuid), not from the vendor.

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class Isa { kPlain, kAvx2, kAvx512 };

namespace internal {
Isa DetectIsa();
}

// The best instruction set that this machine supports, detected once. kAvx2 and kAvx512 include
// fused multiply-add. The environment variable CAFFE2RT_ISA=plain|avx2 lowers the result.
inline Isa CpuIsa() {
  static const Isa isa = internal::DetectIsa();
  return isa;
}
// "plain", "avx2", "avx512".
const char* IsaName(Isa isa);

// Compiles the function that follows for an instruction set, regardless of the compiler's options.
#if defined(__x86_64__)
#define CAFFE2RT_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define CAFFE2RT_TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define CAFFE2RT_TARGET_AVX512
#define CAFFE2RT_TARGET_AVX2
#endif

// Returns the implementation for `isa`.
template <class Function>
Function* PickByIsa(Function* avx512, Function* avx2, Function* plain, Isa isa = CpuIsa()) {
  switch (isa) {
    case Isa::kAvx512:
      return avx512;
    case Isa::kAvx2:
      return avx2;
    default:
      return plain;
  }
}

}  // namespace caffe2rt
#pragma GCC visibility pop
