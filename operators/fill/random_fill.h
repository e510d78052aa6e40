#pragma once
// Random fills of a context: on the CPU from its generator, on a device from its seed and from
// `draws`, where the operator counts what it has drawn.

#include <cstdint>

#include "contexts/cpu/cpu_context.h"
#include "operators/fill/random_fill_kernels.h"
#include "operators/primitives/random.h"

namespace caffe2rt {

// Floats of [low, high).
inline void FillUniform(CPUContext& context, uint64_t* /*draws*/, int64_t n, float low, float high,
                        float* y) {
  math::FillUniform(context.RandGenerator(), static_cast<size_t>(n), low, high, y);
}
// Integers of [low, high], both included.
inline void FillUniform(CPUContext& context, uint64_t* /*draws*/, int64_t n, int32_t low,
                        int32_t high, int32_t* y) {
  math::FillUniform(context.RandGenerator(), static_cast<size_t>(n), low, high, y);
}
inline void FillNormal(CPUContext& context, uint64_t* /*draws*/, int64_t n, float mean, float std,
                       float* y) {
  math::FillNormal(context.RandGenerator(), static_cast<size_t>(n), mean, std, y);
}

}  // namespace caffe2rt
