#pragma once
// Vectors of 16 floats for kernels that are compiled once for each instruction set.
//
//   template <class L, int kTile>
//   [[gnu::always_inline]] inline void Body(...) { typename L::Vector sum = {}; ... }
//
//   CAFFE2RT_TARGET_AVX512 void BodyAvx512(...) { Body<Avx512Lanes, 6>(...); }
//   CAFFE2RT_TARGET_AVX2 void BodyAvx2(...) { Body<Avx2Lanes, 3>(...); }
//   void BodyPlain(...) { Body<PlainLanes, 2>(...); }
//   ... PickByIsa(BodyAvx512, BodyAvx2, BodyPlain)(...)
//
// Every function that a body calls must be inlined into it, because the target attribute applies to
// one function only.

#include "caffe2_core/base/isa.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

using math::kLanes;

// 16 floats in the registers of one instruction set: kParts vectors of kWidth floats. g++ keeps
// vectors that are wider than the target's registers in memory, so a body is a template over the
// lanes type.
#define CAFFE2RT_DEFINE_LANES(Name, bytes)                                                   \
  struct Name {                                                                              \
    static constexpr int kWidth = (bytes) / 4;                                               \
    static constexpr int kParts = kLanes / kWidth;                                           \
    typedef float Vector __attribute__((vector_size(bytes)));                                \
    typedef int32_t IntVector __attribute__((vector_size(bytes)));                           \
    /* A vector in unaligned memory. clang ignores the alignment of a typedef. */            \
    struct __attribute__((packed, may_alias)) Slot {                                         \
      Vector lanes;                                                                          \
    };                                                                                       \
    [[gnu::always_inline]] static const Slot& At(const float* x) {                           \
      return *reinterpret_cast<const Slot*>(x);                                              \
    }                                                                                        \
    [[gnu::always_inline]] static Slot& At(float* x) { return *reinterpret_cast<Slot*>(x); } \
  }
CAFFE2RT_DEFINE_LANES(Avx512Lanes, 64);
CAFFE2RT_DEFINE_LANES(Avx2Lanes, 32);
CAFFE2RT_DEFINE_LANES(PlainLanes, 16);
#undef CAFFE2RT_DEFINE_LANES

// One float, for the elements after the last full vector.
struct OneLane {
  static constexpr int kWidth = 1;
  static constexpr int kParts = kLanes;
  using Vector = float;
  struct Slot {
    float lanes;
  };
  [[gnu::always_inline]] static const Slot& At(const float* x) {
    return *reinterpret_cast<const Slot*>(x);
  }
  [[gnu::always_inline]] static Slot& At(float* x) { return *reinterpret_cast<Slot*>(x); }
};

// Placed before a loop over the elements of an array that is to be kept in registers, with a
// constant number of iterations of at most 32. Empty for clang under sanitizers, where it warns about
// loops that it cannot unroll.
#if defined(__clang__) && defined(CAFFE2RT_SANITIZED)
#define CAFFE2RT_UNROLL
#elif defined(__clang__)
#define CAFFE2RT_UNROLL _Pragma("unroll")
#else
#define CAFFE2RT_UNROLL _Pragma("GCC unroll 32")
#endif

}  // namespace caffe2rt
