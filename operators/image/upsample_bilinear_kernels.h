#pragma once
// Kernels of UpsampleBilinear, on the CPU (upsample_bilinear.cc) and on CUDA
// (upsample_bilinear.cu).

#include <cstdint>
#include <vector>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// The two input indices between which an output index lies, and its position between them.
struct LinearSource {
  int32_t first = 0;
  int32_t second = 0;
  float share = 0;  // weight of the second; that of the first is 1 - share

  // The weight of input index `i`.
  CAFFE2RT_HOST_DEVICE float Weight(int64_t i) const {
    return (first == i ? 1 - share : 0) + (second == i ? share : 0);
  }
};
struct LinearAxis {
  int64_t in = 0;
  int64_t out = 0;
  float step = 0;

  LinearAxis(int64_t in_size, int64_t out_size)
      : in(in_size),
        out(out_size),
        step(out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0) {}
  CAFFE2RT_HOST_DEVICE LinearSource Source(int64_t i) const {
    const float at = step * static_cast<float>(i);
    const int64_t first = ClampedIndex(at, in - 1);
    return {static_cast<int32_t>(first), static_cast<int32_t>(first + 1 < in ? first + 1 : first),
            at - static_cast<float>(first)};
  }
  // Sets [*from, *to) to the output indices that depend on input index `i`.
  CAFFE2RT_HOST_DEVICE void Targets(int64_t i, int64_t* from, int64_t* to) const {
    int64_t index = step > 0 && i > 0 ? ClampedIndex(static_cast<float>(i - 1) / step, out) : 0;
    while (index > 0 && Source(index - 1).first >= i - 1) --index;  // corrects rounding
    while (index < out && Source(index).first < i - 1) ++index;
    *from = index;
    while (index < out && Source(index).first <= i) ++index;
    *to = index;
  }
};

// Source of each row and column, which the CPU fills. The memory is reused in later runs.
struct LinearTables {
  std::vector<LinearSource> rows, columns;
  std::vector<float> sums;  // for the gradient
};

void InterpolatePixels(CPUContext& context, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables* tables, const float* x, float* y);
void InterpolatePixels(CUDAContext& context, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables* tables, const float* x, float* y);

// The gradient: adds each pixel of dY, with the weights of the interpolation, to four pixels of dX.
void InterpolatePixelsGradient(CPUContext& context, int64_t planes, const LinearAxis& height,
                               const LinearAxis& width, LinearTables* tables, const float* dy,
                               float* dx);
void InterpolatePixelsGradient(CUDAContext& context, int64_t planes, const LinearAxis& height,
                               const LinearAxis& width, LinearTables* tables, const float* dy,
                               float* dx);

}  // namespace caffe2rt
