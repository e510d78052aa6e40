#pragma once
// The kernels of Dropout and DropoutGrad, on the CPU and on CUDA (dropout.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] = keep[i] ? x[i] / (1 - ratio) : 0, where keep is drawn from the context's random numbers. y
// may equal x. On CUDA, `draws` is the number of random blocks used so far, which the operator
// keeps between runs; the CPU does not use it.
void DropElements(CPUContext& context, uint64_t* draws, int64_t n, float ratio, const float* x,
                  float* y, bool* keep);
void DropElements(CUDAContext& context, uint64_t* draws, int64_t n, float ratio, const float* x,
                  float* y, bool* keep);

// dx[i] = keep[i] ? dy[i] / (1 - ratio) : 0. dx may equal dy.
void KeepGradients(CPUContext& context, int64_t n, float ratio, const float* dy, const bool* keep,
                   float* dx);
void KeepGradients(CUDAContext& context, int64_t n, float ratio, const float* dy, const bool* keep,
                   float* dx);

}  // namespace caffe2rt
