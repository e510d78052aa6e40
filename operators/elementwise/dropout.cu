// The kernels of Dropout and DropoutGrad. Exact: the mask is a function of the seed.

#include "operators/elementwise/dropout_kernels.h"
#include "operators/primitives/philox.cuh"

namespace caffe2rt {

namespace {

struct DropFour {
  float ratio, scale;
  const float* x;
  float* y;
  bool* keep;
  CAFFE2RT_HOST_DEVICE void operator()(const math::PhiloxBlock& block, int64_t place,
                                       int64_t count) const {
    for (int64_t k = 0; k < count; ++k) {
      const bool kept = math::UnitFloat(block.word[k]) >= ratio;
      keep[place + k] = kept;
      y[place + k] = kept ? x[place + k] * scale : 0.0f;
    }
  }
};

struct KeepGradient {
  float scale;
  const float* dy;
  const bool* keep;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { dx[i] = keep[i] ? dy[i] * scale : 0.0f; }
};

}  // namespace

void DropElements(CUDAContext& context, uint64_t* draws, int64_t n, float ratio, const float* x,
                  float* y, bool* keep) {
  math::ForEachDraw(context, draws, n, DropFour{ratio, 1.0f / (1.0f - ratio), x, y, keep},
                    "Dropout");
}

void KeepGradients(CUDAContext& context, int64_t n, float ratio, const float* dy, const bool* keep,
                   float* dx) {
  ForEach(context, n, KeepGradient{1.0f / (1.0f - ratio), dy, keep, dx}, "DropoutGrad");
}

}  // namespace caffe2rt
