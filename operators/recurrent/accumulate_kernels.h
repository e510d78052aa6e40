#pragma once
// Sums of rows, on the CPU (rnn_internal_accumulate_gradient_input.cc) and on CUDA (recurrent.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] += x[i].
void AddGradientRow(CPUContext& context, int64_t n, const float* x, float* y);
void AddGradientRow(CUDAContext& context, int64_t n, const float* x, float* y);

// y[i] = the sum of x[row * n + i] over the rows.
void SumOverBatch(CPUContext& context, int64_t rows, int64_t n, const float* x, float* y);
void SumOverBatch(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
