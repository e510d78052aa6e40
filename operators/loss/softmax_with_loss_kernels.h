#pragma once
// The kernels of SoftmaxWithLoss, SpatialSoftmaxWithLoss and their gradients.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Softmax over `classes` at each position of each item: probabilities are [batch, classes,
// positions], labels and weights [batch, positions]. SoftmaxWithLoss has one position.
struct LossShape {
  int64_t batch = 0, classes = 0, positions = 1;
};

struct LossTargets {
  const int32_t* labels = nullptr;     // the class of each position, or null
  const float* label_probs = nullptr;  // instead, the probability of each class
  const float* weights = nullptr;      // of each position; null: 1
  bool may_ignore = false;             // a label -1 is left out
  bool average_by_batch_size = false;  // divide by the batch size instead of the weights
};

// Below this, the logarithm of a probability is that of this number, or computed from the input of
// the softmax.
inline constexpr float kLeastLossProbability = 1e-20f;

// -log(p). As in Caffe2, a probability below 1e-20 counts as 1e-20.
CAFFE2RT_SIMD_INLINE inline double CappedSurprise(float p) {
  return -std::log(static_cast<double>(p < kLeastLossProbability ? kLeastLossProbability : p));
}

// -log of element `label` of the softmax of `n` elements x, which is p. A probability that is small,
// or 0, is computed from its ratio to the largest one, which is exp(difference of the inputs).
CAFFE2RT_SIMD_INLINE inline double ExactSurprise(const float* x, const float* p, int64_t n,
                                                 int64_t label) {
  if (!(p[label] < kLeastLossProbability)) return CappedSurprise(p[label]);
  int64_t largest = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (x[i] > x[largest]) largest = i;
  }
  return static_cast<double>(x[largest]) - static_cast<double>(x[label]) +
         CappedSurprise(p[largest]);
}

// Writes factor * sum of weight * -log(probability of the label) / divisor to *loss, where the
// divisor is the sum of the weights or the batch size; 0 if the divisor is 0. For labels of rows
// (positions 1) the logarithm is exact, which needs `x`, the input of the softmax; where `x` is null
// and with label probabilities, a probability below 1e-20 counts as 1e-20, as in Caffe2. THROWS, or
// on CUDA reports, if a label is out of range or label probabilities are negative or do not add up
// to 1. `scratch` is memory for LossScratchBytes bytes.
void AverageLoss(CPUContext& context, const LossShape& shape, const LossTargets& targets,
                 float factor, const float* x, const float* probabilities, void* scratch,
                 float* loss);
void AverageLoss(CUDAContext& context, const LossShape& shape, const LossTargets& targets,
                 float factor, const float* x, const float* probabilities, void* scratch,
                 float* loss);

// dx = (probability - label) * weight * factor * *dloss / divisor; 0 at ignored positions and if the
// divisor is not above 0. THROWS as AverageLoss, except for label probabilities.
void AverageLossGradient(CPUContext& context, const LossShape& shape, const LossTargets& targets,
                         float factor, const float* probabilities, const float* dloss,
                         void* scratch, float* dx);
void AverageLossGradient(CUDAContext& context, const LossShape& shape, const LossTargets& targets,
                         float factor, const float* probabilities, const float* dloss,
                         void* scratch, float* dx);

int64_t LossScratchBytes(const CPUContext& context);
int64_t LossScratchBytes(const CUDAContext& context);

}  // namespace caffe2rt
