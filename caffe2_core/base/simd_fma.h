#pragma once
// CAFFE2RT_SIMD_FMA: CAFFE2RT_SIMD (simd.h) for functions that multiply and add floats.
//
//   CAFFE2RT_SIMD_FMA void ScaleRow(const float* x, int64_t n, float factor, float term, float* y) {
//     for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor + term;
//   }
//
// Both versions fuse multiply-add for vectors of every width: otherwise, results would differ in the last bit between
// machines, also where they are promised to be the same (PreparationOptions::deterministic), and with the number of
// elements that are left over. x86-64-v3 is the level that has AVX2 and fused multiply-add; "arch=haswell" would be
// selected on that one model of processors only. "avx512f" fuses vectors of 16 and single floats alone, so that a loop
// of 10 floats and its copy for memory that may overlap would differ; x86-64-v4 fuses vectors of 8, too. clang 14 would
// never select these levels.

#include "caffe2_core/base/simd.h"

#if CAFFE2RT_SIMD_VERSIONS && !defined(__clang__)
#define CAFFE2RT_SIMD_FMA \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CAFFE2RT_SIMD_FMA CAFFE2RT_SIMD
#endif
