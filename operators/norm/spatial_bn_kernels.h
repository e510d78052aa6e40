#pragma once
// The kernels of SpatialBN.

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

// Scratch memory that is reused in later runs.
struct BatchNormScratch {
  std::vector<float> factor, term, floats;
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

}  // namespace caffe2rt
