#pragma once
// Kernels of ResizeNearest, UpsampleNearest and their gradients, on the CPU (resize_nearest.cc) and
// on CUDA (resize_nearest.cu).

#include <cstdint>
#include <vector>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// An axis whose pixels are repeated or dropped: output index i is copied from input index
// Source(i).
struct NearestAxis {
  int64_t in = 0;
  int64_t out = 0;
  float scale = 1;
  int64_t repeat = 0;  // an integral scale, applied exactly; 0: use `scale`

  CAFFE2RT_HOST_DEVICE int64_t Source(int64_t i) const {
    if (repeat > 0) return i / repeat;
    return ClampedIndex(static_cast<float>(i) / scale, in - 1);
  }
  // Sets [*from, *to) to the output indices that are copied from input index `i`.
  CAFFE2RT_HOST_DEVICE void Targets(int64_t i, int64_t* from, int64_t* to) const {
    int64_t first = repeat > 0 ? i * repeat : ClampedIndex(static_cast<float>(i) * scale, out);
    if (first > out) first = out;
    while (first > 0 && Source(first - 1) >= i) --first;  // corrects rounding
    while (first < out && Source(first) < i) ++first;
    *from = first;
    while (first < out && Source(first) == i) ++first;
    *to = first;
  }
};

// Source of each row and column, which the CPU fills. The memory is reused in later runs.
struct PixelTables {
  std::vector<int32_t> rows, columns;
};

// Resizes `planes` images of `items` floats per pixel. CUDA does not use `tables`.
void TakePixels(CPUContext& context, int64_t planes, int64_t items, const NearestAxis& height,
                const NearestAxis& width, PixelTables* tables, const float* x, float* y);
void TakePixels(CUDAContext& context, int64_t planes, int64_t items, const NearestAxis& height,
                const NearestAxis& width, PixelTables* tables, const float* x, float* y);

// The gradient: adds each pixel of dY to the pixel of dX from which it was copied.
void TakePixelsGradient(CPUContext& context, int64_t planes, int64_t items,
                        const NearestAxis& height, const NearestAxis& width, PixelTables* tables,
                        const float* dy, float* dx);
void TakePixelsGradient(CUDAContext& context, int64_t planes, int64_t items,
                        const NearestAxis& height, const NearestAxis& width, PixelTables* tables,
                        const float* dy, float* dx);

}  // namespace caffe2rt
