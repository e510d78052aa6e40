#pragma once
// Random fills on CUDA (random_fill.cu): the context's seed decides, and `draws`, where the
// operator counts what it has drawn.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// Floats of [low, high).
void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, float low, float high, float* y);
// Integers of [low, high], both included.
void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, int32_t low, int32_t high,
                 int32_t* y);
void FillNormal(CUDAContext& context, uint64_t* draws, int64_t n, float mean, float std, float* y);

}  // namespace caffe2rt
