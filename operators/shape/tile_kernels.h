#pragma once
// The kernel of Tile on CUDA (tile.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// TileRows for rows of `row_bytes` bytes. REQUIRES: all numbers are above 0.
void TileRowBytes(CUDAContext& context, int64_t outer, int64_t row_bytes, int64_t tiles,
                  const void* x, void* y);

}  // namespace caffe2rt
