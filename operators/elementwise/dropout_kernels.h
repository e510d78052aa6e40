#pragma once
// The kernel of Dropout, on the CPU and on CUDA (dropout.cu).

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

}  // namespace caffe2rt
