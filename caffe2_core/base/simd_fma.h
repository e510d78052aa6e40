#pragma once
// CAFFE2RT_SIMD_FMA: CAFFE2RT_SIMD (simd.h) for functions that multiply and add floats.
//
//   CAFFE2RT_SIMD_FMA void ScaleRow(const float* x, int64_t n, float factor, float term, float* y) {
//     for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor + term;
//   }
//
// The version for AVX2 has fused multiply-add, as that for AVX-512 has: without it, results would differ in the
// last bit between machines, also where they are promised to be the same (PreparationOptions::deterministic).
// x86-64-v3 is the level that has both; "arch=haswell" would be selected on that one model of processors only.
// clang 14 would never select x86-64-v3.

#include "caffe2_core/base/simd.h"

#if CAFFE2RT_SIMD_VERSIONS && !defined(__clang__)
#define CAFFE2RT_SIMD_FMA __attribute__((target_clones("avx512f", "arch=x86-64-v3", "default")))
#else
#define CAFFE2RT_SIMD_FMA CAFFE2RT_SIMD
#endif
