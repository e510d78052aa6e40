#pragma once
// Random fills on CUDA (random_fill.cu). The numbers depend on the context's seed and on `draws`,
// the number of blocks of four random words that the operator has used so far. Each call advances
// `draws`.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// Floats in [low, high).
void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, float low, float high, float* y);
// Integers in [low, high], both ends included.
void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, int32_t low, int32_t high,
                 int32_t* y);
void FillNormal(CUDAContext& context, uint64_t* draws, int64_t n, float mean, float std, float* y);

}  // namespace caffe2rt
