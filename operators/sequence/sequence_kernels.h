#pragma once
// The kernels of the operators on sequences, on the CPU (<stem>.cc) and on CUDA (sequence.cu). Rows
// are `block_bytes` bytes of plain data. offsets[s] is the first row of segment s, and
// offsets[segments] the number of rows.

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

class CUDAContext;

struct PackedSizes {
  int64_t segments = 0;
  int64_t max_length = 0;  // rows of a packed segment
  int64_t block_bytes = 0;
};

// packed [segments, max_length, block]: the first rows of each segment, then padding. The padding
// is zeros, or -infinity for floats.
void PackRowBytes(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                  bool pad_minus_infinity, const void* rows, void* packed);
// The reverse: row offsets[s] + t is row t of the packed segment s.
// REQUIRES: no segment has more than max_length rows.
void UnpackRowBytes(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                    const void* packed, void* rows);
// mask [segments, max_length]: whether a row of the packed segments is a row of its segment.
void MarkPresence(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                  bool* mask);

// y [steps, batch, block]: the first lengths[b] rows of each batch entry b in reverse order, the
// others unchanged. REQUIRES: lengths are from 0 to `steps`.
struct StepSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t block_bytes = 0;
};
void ReverseRowBytes(CUDAContext& context, const StepSizes& sizes, const int64_t* lengths,
                     const void* x, void* y);

struct PaddedSizes {
  int64_t segments = 0;
  int64_t start = 0, end = 0;  // rows of padding before and after each segment
  int64_t rows = 0;            // rows of the output
  int64_t block_bytes = 0;
};
// y: each segment with `before` before it and `after` after it, null for zeros. Rows that remain
// are zeros. `offsets` are those of x.
void PadRowBytes(CUDAContext& context, const PaddedSizes& sizes, const int64_t* offsets,
                 const void* x, const void* before, const void* after, void* y);
// y: each segment of x without its first and last rows. Rows that remain are zeros. `offsets` are
// those of x.
void TrimRowBytes(CUDAContext& context, const PaddedSizes& sizes, const int64_t* offsets,
                  const void* x, void* y);

// before [block]: the sum of the first `start` rows of all segments. after [block]: that of the
// last `end` rows; if `after` is null they are added to `before`. Instantiated for float, double,
// int32_t and int64_t. Integers wrap around.
struct PaddingSums {
  int64_t segments = 0;
  int64_t start = 0, end = 0;
  int64_t block = 0;  // elements of a row
};
template <class T>
void SumPadding(CUDAContext& context, const PaddingSums& sizes, const int64_t* offsets, const T* x,
                T* before, T* after);

enum class MaskMode { kSequence, kWindow, kUpper, kLower, kUpperDiagonal, kLowerDiagonal };

// An element of a row is kept if its position is in an interval that depends on the row.
struct MaskSizes {
  MaskMode mode = MaskMode::kSequence;
  int64_t rows = 0;
  int64_t cycle = 0;   // row r is masked like row r % cycle
  int64_t width = 0;   // positions of a row
  int64_t repeat = 0;  // elements of a position
  int64_t radius = 0;
};

// The positions of a row to keep: [first, last), which may exceed the row.
struct MaskInterval {
  int64_t first, last;
};
// The interval of row `row` of a cycle; `number` is its length or center.
CAFFE2RT_HOST_DEVICE inline MaskInterval KeptPositions(const MaskSizes& sizes, int64_t row,
                                                       int64_t number) {
  switch (sizes.mode) {
    case MaskMode::kSequence:
      return {0, number};
    case MaskMode::kWindow:
      return {number - sizes.radius, number + sizes.radius + 1};
    case MaskMode::kUpper:
      return {0, row + 1};
    case MaskMode::kLower:
      return {row, sizes.width};
    case MaskMode::kUpperDiagonal:
      return {0, row};
    default:
      return {row + 1, sizes.width};
  }
}

// y = x where the position is kept, else `fill`. `numbers` [cycle] are the lengths or centers, null
// for the other modes. Instantiated for float and float16.
template <class T>
void MaskRows(CUDAContext& context, const MaskSizes& sizes, const int32_t* numbers, float fill,
              const T* x, T* y);

}  // namespace caffe2rt
