#pragma once
// The kernels of LRN and LRNGradient.

#include <cstdint>
#include <vector>

#include "operators/common/channels.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct LRNWindow {
  int64_t before = 0, after = 0;  // channels on either side; after is -1 for an empty window
  float alpha = 0;                // the argument alpha divided by the size
  float beta = 0;
  float bias = 1;
};

// scale may be null. The memory of `scratch` is reused in later runs.
void NormalizeLocally(CPUContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);
// Does not use `scratch`.
void NormalizeLocally(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);

// The number of floats of scratch memory for GradientOfLocal.
int64_t LocalGradientScratch(const CPUContext& context, const Channels& shape);
int64_t LocalGradientScratch(const CUDAContext& context, const Channels& shape);

// dx[c] = dy[c] * scale[c]^-beta - 2 * alpha * beta * x[c] * sum of dy[j] * y[j] / scale[j], where the
// window of j has `after` channels before c and `before` channels after it in order NCHW. In order
// NHWC it has `before` channels before c, as in Caffe2, which is the gradient for odd sizes only.
void GradientOfLocal(CPUContext& context, const Channels& shape, const LRNWindow& window,
                     const float* x, const float* y, const float* dy, float* scratch, float* dx);
void GradientOfLocal(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                     const float* x, const float* y, const float* dy, float* scratch, float* dx);

}  // namespace caffe2rt
