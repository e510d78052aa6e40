#pragma once
// Powers of arrays, on the CPU and on CUDA (pow.cu).

#include <cstdint>

#include "operators/common/broadcast_loops.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] = x[i] ^ exponent. y may equal x.
void PowerOf(CPUContext& context, int64_t n, const float* x, float exponent, float* y);
void PowerOf(CUDAContext& context, int64_t n, const float* x, float exponent, float* y);

// y[i] = a[i] ^ b[i]. y may equal a or b.
void PowersOf(CPUContext& context, int64_t n, const float* a, const float* b, float* y);
void PowersOf(CUDAContext& context, int64_t n, const float* a, const float* b, float* y);

// The same with broadcasting. REQUIRES: loops.output_size > 0.
void PowersOf(CPUContext& context, const BroadcastLoops& loops, const float* a, const float* b,
              float* y);
void PowersOf(CUDAContext& context, const BroadcastLoops& loops, const float* a, const float* b,
              float* y);

}  // namespace caffe2rt
