#pragma once
// The kernels of InstanceNorm, GroupNorm and their gradients.

#include <cstdint>
#include <vector>

#include "operators/common/channels.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Scratch memory that is reused in later runs.
struct NormScratch {
  std::vector<Moments> moments;
  std::vector<float> floats;
};

// Normalizes groups of shape.count / groups channels by a common mean and variance. groups ==
// shape.count is instance normalization, fewer groups is group normalization. mean and inv_std are
// [batch, groups] and may be null. x may be y.
void NormalizeGroups(CPUContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch* scratch,
                     float* y, float* mean, float* inv_std);
// Does not use `scratch`.
void NormalizeGroups(CUDAContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch* scratch,
                     float* y, float* mean, float* inv_std);

// The inputs and outputs of the gradient. mean and inv_std are [batch, groups], or both null if each
// channel is a group; then they are computed from x.
struct GroupNormGradient {
  float epsilon = 0;
  const float* x = nullptr;
  const float* dy = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  float* dx = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
};

// With n = (x - mean) * inv_std:
//   dbeta = sum of dy, dgamma = sum of dy * n, over images and positions
//   dx = inv_std * (gamma * dy - (mean of gamma * dy) - n * (mean of gamma * dy * n)), with the means
//   over the group
// `sums` is memory for GroupGradientScratch(shape) floats.
inline int64_t GroupGradientScratch(const Channels& shape) {
  return (2 * shape.batch + 5) * shape.count;
}
void GradientOfGroups(CPUContext& context, const Channels& shape, int64_t groups,
                      const GroupNormGradient& gradient, float* sums);
void GradientOfGroups(CUDAContext& context, const Channels& shape, int64_t groups,
                      const GroupNormGradient& gradient, float* sums);

}  // namespace caffe2rt
