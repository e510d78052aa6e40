#pragma once
// Internal to int8_gemm: the inner loops, for each instruction set. Each adds to `sums`.

#include <cstdint>

#include "operators/primitives/wrapping.h"

namespace caffe2rt {

// Up to 8 rows times one or two blocks of 16 outputs.
struct Int8VnniTile {
  const uint8_t* const* rows = nullptr;  // 8 pointers
  const int8_t* weights = nullptr;       // [quads][16][4]
  int64_t block_stride = 0;              // from a block of weights to the next
  int64_t quads = 0;
  int32_t* sums = nullptr;  // room for 8 rows
  int64_t sums_stride = 0;
};
// REQUIRES: the machine has AVX-512 with VNNI; 1 <= count <= 8.
void RunVnniTile(const Int8VnniTile& tile, int64_t count, bool two_blocks);

// `count` rows times one block of 16 outputs.
struct Int8WordTile {
  const int16_t* rows = nullptr;
  int64_t row_stride = 0;
  int64_t count = 0;
  const int16_t* weights = nullptr;  // [pairs][16][2]
  int64_t pairs = 0;
  int32_t* sums = nullptr;
  int64_t sums_stride = 0;
};
// REQUIRES: the machine has AVX2.
void RunAvx2Tile(const Int8WordTile& tile);
void RunPlainTile(const Int8WordTile& tile);

int32_t SumOfBytes(const uint8_t* x, int64_t n);
// Writes x as words, followed by zeros up to `padded`.
void WidenBytes(const uint8_t* x, int64_t n, int64_t padded, int16_t* y);
// y = start + extra; a null start stands for zeros.
void FillSums(const int32_t* start, int32_t extra, int64_t n, int32_t* y);

inline int32_t MultiplyWrapping(int32_t a, int32_t b) { return math::WrappingMultiply(a, b); }

}  // namespace caffe2rt
