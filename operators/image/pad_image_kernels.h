#pragma once
// Kernels of PadImage, on the CPU (pad_image.cc) and on CUDA (pad_image.cu).

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

enum class PadMode { kConstant, kReflect, kEdge };

// The index of the input, of `in` elements, that index `i` of the padded axis comes from; `i`
// counts from the first element of the input. -1 for the constant. Negative with kReflect if the
// mirror image is larger than the axis.
CAFFE2RT_HOST_DEVICE inline int64_t PadSource(int64_t i, int64_t in, PadMode mode) {
  if (mode == PadMode::kConstant) return i < 0 || i >= in ? -1 : i;
  if (mode == PadMode::kEdge) return i < 0 ? 0 : i >= in ? in - 1 : i;
  const int64_t away = i < 0 ? -i : i, back = 2 * in - away - 2;
  return away < back ? away : back;
}

struct PadAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t head = 0;  // rows or columns added before the first; negative crops
};

// `planes` images of `items` floats a pixel. `rows` and `columns`: PadSource of each index of
// height and width, in host memory, for the CPU; CUDA computes them.
void PadPixels(CPUContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);
void PadPixels(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);

}  // namespace caffe2rt
