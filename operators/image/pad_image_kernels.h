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

// The indices of a padded axis, from `from` to before `to`, that are copied from one index of the
// input.
struct PadRange {
  int64_t from = 0;
  int64_t to = 0;
};

struct PadAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t head = 0;  // rows or columns added before the first; negative: cropped

  // The parts of an axis, in ascending order: padding before the input that is reflected twice (it is
  // as long as the input or longer), other padding before it, the input, padding after it.
  static constexpr int kParts = 4;

  // Returns range `part` of those for which PadSource is `i`. A range may be empty.
  CAFFE2RT_HOST_DEVICE PadRange Targets(int64_t i, PadMode mode, int part) const {
    PadRange range{i, i + 1};
    const int64_t last = in - 1, away = 2 * last - i;
    if (part != 2 && mode == PadMode::kConstant) return {0, 0};
    if (part == 0) {
      if (i == last || mode != PadMode::kReflect) return {0, 0};
      range = PadRange{-away, 1 - away};
    } else if (part == 1) {
      if (i == 0 ? mode == PadMode::kReflect : mode == PadMode::kEdge) return {0, 0};
      range = mode == PadMode::kReflect ? PadRange{-i, 1 - i} : PadRange{-head, 0};
    } else if (part == 3) {
      if (i == last ? mode == PadMode::kReflect : mode == PadMode::kEdge) return {0, 0};
      range = mode == PadMode::kReflect ? PadRange{away, away + 1} : PadRange{in, out - head};
    }
    range.from = range.from + head > 0 ? range.from + head : 0;
    range.to = range.to + head < out ? range.to + head : out;
    return range;
  }
};

// Pads `planes` images of `items` floats per pixel. `rows` and `columns` hold PadSource for each
// index of height and width, in host memory; only the CPU uses them, CUDA computes them.
void PadPixels(CPUContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);
void PadPixels(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y);

// The gradient: adds each pixel of dY to the pixel of dX from which it was copied.
void PadPixelsGradient(CPUContext& context, int64_t planes, int64_t items, const PadAxis& height,
                       const PadAxis& width, PadMode mode, const int32_t* rows,
                       const int32_t* columns, const float* dy, float* dx);
void PadPixelsGradient(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
                       const PadAxis& width, PadMode mode, const int32_t* rows,
                       const int32_t* columns, const float* dy, float* dx);

}  // namespace caffe2rt
