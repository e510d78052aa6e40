#pragma once
// The kernels of SpatialBN.

#include <cstdint>
#include <vector>

#include "operators/common/channels.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// What testing needs; one float for each channel.
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
  const float* sums = nullptr;  // over num_batches, when above 1
  const float* sumsq = nullptr;
  float* running_mean = nullptr;
  float* running_var = nullptr;
  bool keep_mean = true, keep_var = true;  // else the running values start at zero
  float* saved_mean = nullptr;
  float* saved_scale = nullptr;
};

// Memory that lasts from run to run.
struct BatchNormScratch {
  std::vector<float> factor, term, floats;
  std::vector<Moments> moments;
};

// x may be y. On CUDA `scratch` is not used.
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
