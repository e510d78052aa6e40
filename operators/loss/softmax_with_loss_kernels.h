#pragma once
// The kernels of SoftmaxWithLoss, SpatialSoftmaxWithLoss and their gradients.

#include <cstdint>

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

// Writes factor * sum of weight * -log(probability of the label) / divisor to *loss, where the
// divisor is the sum of the weights or the batch size; 0 if the divisor is 0. THROWS, or on CUDA
// reports, if a label is out of range or label probabilities are negative or do not add up to 1.
// `scratch` is memory for LossScratchBytes bytes.
void AverageLoss(CPUContext& context, const LossShape& shape, const LossTargets& targets,
                 float factor, const float* probabilities, void* scratch, float* loss);
void AverageLoss(CUDAContext& context, const LossShape& shape, const LossTargets& targets,
                 float factor, const float* probabilities, void* scratch, float* loss);

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
