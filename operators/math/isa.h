#pragma once
// Instruction sets, and vectors of 16 floats for kernels that are compiled for each of them.
//
//   template <int kTile> [[gnu::always_inline]] inline void Body(...) { Lanes sum = {}; ... }
//   CAFFE2RT_TARGET_AVX512 void BodyAvx512(...) { Body<6>(...); }
//   CAFFE2RT_TARGET_AVX2 void BodyAvx2(...) { Body<3>(...); }
//   void BodyPlain(...) { Body<2>(...); }
//   ... PickByIsa(BodyAvx512, BodyAvx2, BodyPlain)(...)
//
// A body holds no function that is not inlined into it: the target does not reach further.

namespace caffe2rt {

enum class Isa { kPlain, kAvx2, kAvx512 };

// What this machine has (with fused multiply-add); asked once. CAFFE2RT_ISA=plain|avx2 in the
// environment lowers it.
Isa CpuIsa();
// "plain", "avx2", "avx512".
const char* IsaName(Isa isa);

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

inline constexpr int kLanes = 16;
// 16 floats; the compiler cuts them to what the target has.
typedef float Lanes __attribute__((vector_size(64)));
// The same at any address of a float.
typedef float UnalignedLanes __attribute__((vector_size(64), aligned(4), may_alias));

}  // namespace caffe2rt
