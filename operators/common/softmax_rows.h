#pragma once
// Softmax of rows and of the channels of images, and the gradient of rows: kernels that the softmax
// operators and the losses share.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// A row becomes NaN if it contains a NaN or +infinity, or only -infinity.
void SoftmaxRows(CPUContext& context, int64_t rows, int64_t n, const float* x, float* y);
void SoftmaxRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y);

// dx = (dy - sum of y * dy over the row) * y. dx may be dy.
void SoftmaxRowsGradient(CPUContext& context, int64_t rows, int64_t n, const float* y,
                         const float* dy, float* dx);
void SoftmaxRowsGradient(CUDAContext& context, int64_t rows, int64_t n, const float* y,
                         const float* dy, float* dx);

// Softmax over the channels at each position of x [batch, channels, positions].
void SoftmaxChannels(CPUContext& context, int64_t batch, int64_t channels, int64_t positions,
                     const float* x, float* y);
void SoftmaxChannels(CUDAContext& context, int64_t batch, int64_t channels, int64_t positions,
                     const float* x, float* y);

}  // namespace caffe2rt
