#pragma once
// Instruction sets of this machine, told by feature (cpuid), never by vendor.

namespace caffe2rt {

enum class Isa { kPlain, kAvx2, kAvx512 };

namespace internal {
Isa DetectIsa();
}

// What this machine has (with fused multiply-add); asked once. CAFFE2RT_ISA=plain|avx2 in the
// environment lowers it.
inline Isa CpuIsa() {
  static const Isa isa = internal::DetectIsa();
  return isa;
}
// "plain", "avx2", "avx512".
const char* IsaName(Isa isa);

// Before a function that is compiled for an instruction set, whatever the rest is compiled for.
#if defined(__x86_64__)
#define CAFFE2RT_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define CAFFE2RT_TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define CAFFE2RT_TARGET_AVX512
#define CAFFE2RT_TARGET_AVX2
#endif

template <class Function>
Function* PickByIsa(Function* avx512, Function* avx2, Function* plain) {
  switch (CpuIsa()) {
    case Isa::kAvx512:
      return avx512;
    case Isa::kAvx2:
      return avx2;
    default:
      return plain;
  }
}

}  // namespace caffe2rt
