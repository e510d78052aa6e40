#pragma once
// Instruction sets, and vectors of 16 floats for kernels that are compiled for each of them.
//
//   template <class L, int kTile> [[gnu::always_inline]] inline void Body(...) { typename L::Vector
//   sum = {}; ... } CAFFE2RT_TARGET_AVX512 void BodyAvx512(...) { Body<Avx512Lanes, 6>(...); }
//   CAFFE2RT_TARGET_AVX2 void BodyAvx2(...) { Body<Avx2Lanes, 3>(...); }
//   void BodyPlain(...) { Body<PlainLanes, 2>(...); }
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

// 16 floats as the registers of an instruction set hold them: kParts vectors of kWidth. g++ keeps
// wider vectors than the target has in memory, so a body takes the set as a template argument.
#define CAFFE2RT_DEFINE_LANES(Name, bytes)                                              \
  struct Name {                                                                         \
    static constexpr int kWidth = (bytes) / 4;                                          \
    static constexpr int kParts = kLanes / kWidth;                                      \
    typedef float Vector __attribute__((vector_size(bytes)));                           \
    /* A place in memory of any alignment; clang forgets that of a typedef. */          \
    struct __attribute__((packed, may_alias)) Slot {                                    \
      Vector lanes;                                                                     \
    };                                                                                  \
    [[gnu::always_inline]] static const Slot& At(const float* x) {                      \
      return *reinterpret_cast<const Slot*>(x);                                         \
    }                                                                                   \
    [[gnu::always_inline]] static Slot& At(float* x) {                                  \
      return *reinterpret_cast<Slot*>(x);                                               \
    }                                                                                   \
  }
CAFFE2RT_DEFINE_LANES(Avx512Lanes, 64);
CAFFE2RT_DEFINE_LANES(Avx2Lanes, 32);
CAFFE2RT_DEFINE_LANES(PlainLanes, 16);
#undef CAFFE2RT_DEFINE_LANES

}  // namespace caffe2rt
