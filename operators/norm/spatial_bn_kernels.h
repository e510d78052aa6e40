#pragma once
// The kernels of SpatialBN, SpatialBNGradient, ChannelStats and ChannelBackpropStats.

#include <cstdint>
#include <vector>

#include "operators/common/channels.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// The parameters in test mode: vectors of one float for each channel.
struct BatchNormTest {
  float epsilon = 0;
  const float* scale = nullptr;
  const float* bias = nullptr;
  const float* mean = nullptr;
  const float* var = nullptr;
};
struct BatchNormTraining {
  float epsilon = 0, momentum = 0;
  int num_batches = 1;
  const float* scale = nullptr;
  const float* bias = nullptr;
  const float* sums = nullptr;  // over num_batches batches; null if that is 1
  const float* sumsq = nullptr;
  float* running_mean = nullptr;
  float* running_var = nullptr;
  bool keep_mean = true, keep_var = true;  // otherwise the running values start at zero
  float* saved_mean = nullptr;
  float* saved_scale = nullptr;
};

// The parameters of the gradient: vectors of one float for each channel.
struct BatchNormGradient {
  int num_batches = 1;
  const float* scale = nullptr;
  const float* mean = nullptr;     // null: 0
  const float* inverse = nullptr;  // 1 / deviation; null: 1, or that of `var`
  // Not null: mean and variance are constants and not those of the batch, as in test mode.
  const float* var = nullptr;
  float epsilon = 0;  // added to `var`
  // The gradients of scale and bias, added up over num_batches batches; null if that is 1. They may
  // be the same memory as dscale and dbias.
  const float* dscale_sum = nullptr;
  const float* dbias_sum = nullptr;
  float* dscale = nullptr;
  float* dbias = nullptr;
};

// Scratch memory that is reused in later runs.
struct BatchNormScratch {
  std::vector<float> factor, term, floats, inverse;
  std::vector<double> sums;
  std::vector<Moments> moments;
};

// x may be y in NormalizeBatch. CUDA does not use `scratch`.
void NormalizeBatch(CPUContext& context, const Channels& shape, const BatchNormTest& parameters,
                    const float* x, BatchNormScratch* scratch, float* y);
void NormalizeBatch(CPUContext& context, const Channels& shape, const BatchNormTraining& parameters,
                    const float* x, BatchNormScratch* scratch, float* y);
void NormalizeBatch(CUDAContext& context, const Channels& shape, const BatchNormTest& parameters,
                    const float* x, BatchNormScratch* scratch, float* y);
void NormalizeBatch(CUDAContext& context, const Channels& shape,
                    const BatchNormTraining& parameters, const float* x, BatchNormScratch* scratch,
                    float* y);

// Computes, for each channel, with n = (x - mean) * inverse and the sums over batch and positions:
//   dbias = sum of dy, dscale = sum of dy * n
//   dx = scale * inverse * (dy - (dbias + n * dscale) / count)
// With constant statistics, inverse is 1 / sqrt(var + epsilon), and dx = scale * inverse * dy. For
// several batches, dbias and dscale are the given sums divided by num_batches. Without dx (null) only
// the sums are computed, and scale is not used. CUDA does not use `scratch`.
void GradientOfBatch(CPUContext& context, const Channels& shape,
                     const BatchNormGradient& parameters, const float* x, const float* dy,
                     BatchNormScratch* scratch, float* dx);
void GradientOfBatch(CUDAContext& context, const Channels& shape,
                     const BatchNormGradient& parameters, const float* x, const float* dy,
                     BatchNormScratch* scratch, float* dx);

}  // namespace caffe2rt
