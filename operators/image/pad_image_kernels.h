#pragma once
// Kernels of PadImage, on the CPU (pad_image.cc) and on CUDA (pad_image.cu).

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

enum class PadMode { kConstant, kReflect, kEdge };

// Returns the index of an input of `in` elements from which index `i` of the padded axis is copied,
// or -1 for the constant. `i` is counted from the first element of the input. With kReflect the
// result is negative if the axis is too short to be reflected.
CAFFE2RT_HOST_DEVICE inline int64_t PadSource(int64_t i, int64_t in, PadMode mode) {
  if (mode == PadMode::kConstant) return i < 0 || i >= in ? -1 : i;
  if (mode == PadMode::kEdge) return i < 0 ? 0 : i >= in ? in - 1 : i;
  const int64_t away = i < 0 ? -i : i, back = 2 * in - away - 2;
  return away < back ? away : back;
}

struct PadAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t head = 0;  // rows or columns added before the first; negative: cropped
};

// Pads `planes` images of `items` floats per pixel. `rows` and `columns` hold PadSource for each
// index of height and width, in host memory; only the CPU uses them, CUDA computes them.
void PadPixels(CPUContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);
void PadPixels(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);

}  // namespace caffe2rt
