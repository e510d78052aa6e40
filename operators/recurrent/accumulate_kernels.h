#pragma once
// Sums of rows, on the CPU (rnn_internal_accumulate_gradient_input.cc) and on CUDA (recurrent.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] += x[i].
void AddTo(CPUContext& context, int64_t n, const float* x, float* y);
void AddTo(CUDAContext& context, int64_t n, const float* x, float* y);

// y[i] = the sum of x[row * n + i] over the rows.
void SumRows(CPUContext& context, int64_t rows, int64_t n, const float* x, float* y);
void SumRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
