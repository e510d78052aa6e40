#pragma once
// The kernels of the distances, on the CPU (distance.cc) and on CUDA (distance.cu).

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

enum class Distance { kSquaredL2, kL1, kDotProduct, kCosine };

// z[i] = the distance of row i of x and row i of y.
void RowDistances(CPUContext& context, Distance distance, int64_t rows, int64_t cols,
                  const float* x, const float* y, float* z);
void RowDistances(CUDAContext& context, Distance distance, int64_t rows, int64_t cols,
                  const float* x, const float* y, float* z);
void RowDistancesGradient(CPUContext& context, Distance distance, int64_t rows, int64_t cols,
                          const float* x, const float* y, const float* dz, float* dx, float* dy);
void RowDistancesGradient(CUDAContext& context, Distance distance, int64_t rows, int64_t cols,
                          const float* x, const float* y, const float* dz, float* dx, float* dy);

// -1, 0 or 1. As in Caffe2, 0 for differences up to 1e-12.
CAFFE2RT_SIMD_INLINE inline float SignOfDifference(float x, float y) {
  constexpr float kTiny = 1e-12f;
  const float difference = x - y;
  return (difference > kTiny ? 1.0f : 0.0f) - (difference < -kTiny ? 1.0f : 0.0f);
}

// A squared norm below this counts as this much.
inline constexpr float kLeastSquaredNorm = 1e-12f;
CAFFE2RT_SIMD_INLINE inline float NormOf(float squared_norm) {
  return std::sqrt(squared_norm < kLeastSquaredNorm ? kLeastSquaredNorm : squared_norm);
}

// The gradient of xy / (norm(x) * norm(y)): dx = other * y - of_x * x, dy = other * x - of_y * y.
struct CosineSlopes {
  float other, of_x, of_y;

  CAFFE2RT_SIMD_INLINE static CosineSlopes Make(float xx, float yy, float xy, float dz) {
    const float x_norm = NormOf(xx), y_norm = NormOf(yy), product = x_norm * y_norm;
    return {dz / product, dz * xy / (product * (x_norm * x_norm)),
            dz * xy / (product * (y_norm * y_norm))};
  }
};

}  // namespace caffe2rt
