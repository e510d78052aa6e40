#pragma once
// Kernels of BatchPermutation, on the CPU (batch_permutation.cc) and on CUDA (affine_channel.cu). An
// index out of range is an error: the CPU THROWS; on CUDA the next wait for the stream throws.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] = x[indices[i]]
void PermuteRows(CPUContext& context, int64_t rows, int64_t columns, const int32_t* indices,
                 const float* x, float* y);
void PermuteRows(CUDAContext& context, int64_t rows, int64_t columns, const int32_t* indices,
                 const float* x, float* y);
// dx[indices[i]] += dy[i], after dx is set to 0.
void PermuteRowsGradient(CPUContext& context, int64_t rows, int64_t columns, const int32_t* indices,
                         const float* dy, float* dx);
void PermuteRowsGradient(CUDAContext& context, int64_t rows, int64_t columns,
                         const int32_t* indices, const float* dy, float* dx);

}  // namespace caffe2rt
