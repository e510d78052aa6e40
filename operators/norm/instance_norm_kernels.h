#pragma once
// The kernels of InstanceNorm and GroupNorm.

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

}  // namespace caffe2rt
