#pragma once
// Vectors of 16 floats for kernels that are compiled for each instruction set.
//
//   template <class L, int kTile>
//   [[gnu::always_inline]] inline void Body(...) { typename L::Vector sum = {}; ... }
//
//   CAFFE2RT_TARGET_AVX512 void BodyAvx512(...) { Body<Avx512Lanes, 6>(...); }
//   CAFFE2RT_TARGET_AVX2 void BodyAvx2(...) { Body<Avx2Lanes, 3>(...); }
//   void BodyPlain(...) { Body<PlainLanes, 2>(...); }
//   ... PickByIsa(BodyAvx512, BodyAvx2, BodyPlain)(...)
//
// A body holds no function that is not inlined into it: the target does not reach further.

#include "caffe2_core/base/isa.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

using math::kLanes;

// 16 floats as the registers of an instruction set hold them: kParts vectors of kWidth. g++ keeps
// wider vectors than the target has in memory, so a body takes the set as a template argument.
#define CAFFE2RT_DEFINE_LANES(Name, bytes)                                                   \
  struct Name {                                                                              \
    static constexpr int kWidth = (bytes) / 4;                                               \
    static constexpr int kParts = kLanes / kWidth;                                           \
    typedef float Vector __attribute__((vector_size(bytes)));                                \
    /* A place in memory of any alignment; clang forgets that of a typedef. */               \
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

}  // namespace caffe2rt
