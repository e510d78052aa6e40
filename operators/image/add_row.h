#pragma once
// The addition of rows of pixels, for gradients.

#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

struct AddRowKernel {
  CAFFE2RT_SIMD_INLINE void operator()(const float* x, int64_t n, float* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] += x[i];
  }
};
// y[i] += x[i]
inline void AddRow(const float* x, int64_t n, float* y) { RunSimd(AddRowKernel{}, x, n, y); }

}  // namespace caffe2rt
