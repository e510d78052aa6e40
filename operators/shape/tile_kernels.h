#pragma once
// The kernels of Tile and TileGradient on CUDA (tile.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// TileRows for rows of `row_bytes` bytes. REQUIRES: all numbers are above 0.
void TileRowBytes(CUDAContext& context, int64_t outer, int64_t row_bytes, int64_t tiles,
                  const void* x, void* y);

// See tile.h.
template <class T>
void SumTiles(CUDAContext& context, int64_t outer, int64_t inner, int64_t tiles, const T* dy,
              T* dx);

}  // namespace caffe2rt
