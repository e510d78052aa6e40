#pragma once
// The loop of Dropout, on the CPU and on CUDA (dropout.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] = keep[i] ? x[i] / (1 - ratio) : 0, with keep drawn from the context's generator. y may be
// x. `draws` counts what CUDA has drawn, from run to run; the CPU leaves it alone.
void DropElements(CPUContext& context, uint64_t* draws, int64_t n, float ratio, const float* x,
                  float* y, bool* keep);
void DropElements(CUDAContext& context, uint64_t* draws, int64_t n, float ratio, const float* x,
                  float* y, bool* keep);

}  // namespace caffe2rt
