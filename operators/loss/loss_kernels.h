#pragma once
// The kernels of the losses, on the CPU (<stem>.cc) and on CUDA (losses.cu).

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;
class Tensor;

// *y = the mean of n elements, or 0 if there are none. `scratch` is device memory, not used on the
// CPU.
void Average(CPUContext& context, int64_t n, const float* x, float* y, Tensor* scratch);
void Average(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* scratch);
// dx[i] = *dy / n
void AverageGradient(CPUContext& context, int64_t n, const float* dy, float* dx);
void AverageGradient(CUDAContext& context, int64_t n, const float* dy, float* dx);

// A probability below this counts as this much in a logarithm and as a divisor.
inline constexpr float kLeastProbability = 1e-20f;
CAFFE2RT_SIMD_INLINE inline float ClampProbability(float x) {
  return x < kLeastProbability ? kLeastProbability : x;
}

// y[i] = -log(x[i, labels[i]]) for `rows` rows of `classes` probabilities. An invalid label is an
// error: the CPU THROWS; on CUDA the next wait for the stream throws.
void LabelCrossEntropy(CPUContext& context, int64_t rows, int64_t classes, const float* x,
                       const int32_t* labels, float* y);
void LabelCrossEntropy(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                       const int32_t* labels, float* y);
void LabelCrossEntropyGradient(CPUContext& context, int64_t rows, int64_t classes, const float* x,
                               const int32_t* labels, const float* dy, float* dx);
void LabelCrossEntropyGradient(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                               const int32_t* labels, const float* dy, float* dx);
// y[i] = the sum of -labels[i, j] * log(x[i, j]) over the classes j.
void CrossEntropy(CPUContext& context, int64_t rows, int64_t classes, const float* x,
                  const float* labels, float* y);
void CrossEntropy(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                  const float* labels, float* y);
void CrossEntropyGradient(CPUContext& context, int64_t rows, int64_t classes, const float* x,
                          const float* labels, const float* dy, float* dx);
void CrossEntropyGradient(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                          const float* labels, const float* dy, float* dx);

// y[i] = {1 - x[i], x[i]}
void MakeTwoClasses(CPUContext& context, int64_t n, const float* x, float* y);
void MakeTwoClasses(CUDAContext& context, int64_t n, const float* x, float* y);
// dx[i] = dy[i, 1] - dy[i, 0]
void MakeTwoClassesGradient(CPUContext& context, int64_t n, const float* dy, float* dx);
void MakeTwoClassesGradient(CUDAContext& context, int64_t n, const float* dy, float* dx);

// The cross entropy of the probability sigmoid(x) and the target t, and its variants:
//   a(t) * log(1 + exp(x)) - b(t) * x, where a(t) = a0 + a1 t and b(t) = b0 + b1 t
struct SigmoidLoss {
  float a0 = 1, a1 = 0, b0 = 0, b1 = 1;  // the cross entropy

  CAFFE2RT_SIMD_INLINE float operator()(float x, float t) const {
    const float a = a0 + a1 * t, b = b0 + b1 * t;
    // log(1 + exp(x)) is log(1 + exp(-|x|)), plus x if x is positive.
    const float size = x < 0.0f ? -x : x;
    const float slope = x < 0.0f ? -b : a - b;
    return a * math::Log(1.0f + math::Exp(-size)) + slope * x;
  }
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float t) const {
    return (a0 + a1 * t) * math::Logistic(x) - (b0 + b1 * t);
  }
};

// y[i] = the mean of the losses of row i, each multiplied by its weight, or 0 if cols is 0.
// `weights` is null if all weights are 1.
void SigmoidLosses(CPUContext& context, int64_t rows, int64_t cols, const SigmoidLoss& loss,
                   const float* x, const float* targets, const float* weights, float* y);
void SigmoidLosses(CUDAContext& context, int64_t rows, int64_t cols, const SigmoidLoss& loss,
                   const float* x, const float* targets, const float* weights, float* y);
void SigmoidLossesGradient(CPUContext& context, int64_t rows, int64_t cols, const SigmoidLoss& loss,
                           const float* x, const float* targets, const float* weights,
                           const float* dy, float* dx);
void SigmoidLossesGradient(CUDAContext& context, int64_t rows, int64_t cols,
                           const SigmoidLoss& loss, const float* x, const float* targets,
                           const float* weights, const float* dy, float* dx);

}  // namespace caffe2rt
