#pragma once
// Random fills for the contexts. On the CPU the numbers come from the context's generator. On a
// device they depend on the context's seed and on `draws`, the number of blocks of four random
// words that the operator has used so far.

#include <cstdint>

#include "contexts/cpu/cpu_context.h"
#include "operators/fill/random_fill_kernels.h"
#include "operators/primitives/random.h"

namespace caffe2rt {

// Floats in [low, high).
inline void FillUniform(CPUContext& context, uint64_t* /*draws*/, int64_t n, float low, float high,
                        float* y) {
  math::FillUniform(context.RandGenerator(), static_cast<size_t>(n), low, high, y);
}
// Integers in [low, high], both ends included.
inline void FillUniform(CPUContext& context, uint64_t* /*draws*/, int64_t n, int32_t low,
                        int32_t high, int32_t* y) {
  math::FillUniform(context.RandGenerator(), static_cast<size_t>(n), low, high, y);
}
inline void FillNormal(CPUContext& context, uint64_t* /*draws*/, int64_t n, float mean, float std,
                       float* y) {
  math::FillNormal(context.RandGenerator(), static_cast<size_t>(n), mean, std, y);
}

}  // namespace caffe2rt
