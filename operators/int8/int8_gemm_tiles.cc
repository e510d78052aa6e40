#include "operators/int8/int8_gemm_tiles.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/simd.h"
#include "operators/int8/int8_gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace caffe2rt {

namespace {

constexpr int kLanesOfBlock = 16;

CAFFE2RT_SIMD void AddToSums(const int32_t* start, int32_t extra, int64_t n, int32_t* y) {
  const auto more = static_cast<uint32_t>(extra);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<int32_t>(static_cast<uint32_t>(start[i]) + more);
  }
}

CAFFE2RT_SIMD void WidenRow(const uint8_t* x, int64_t n, int16_t* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

CAFFE2RT_SIMD uint32_t AddBytes(const uint8_t* x, int64_t n) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace

int32_t SumOfBytes(const uint8_t* x, int64_t n) { return static_cast<int32_t>(AddBytes(x, n)); }

void WidenBytes(const uint8_t* x, int64_t n, int64_t padded, int16_t* y) {
  WidenRow(x, n, y);
  std::fill(y + n, y + padded, int16_t{0});
}

void FillSums(const int32_t* start, int32_t extra, int64_t n, int32_t* y) {
  if (start == nullptr) {
    std::fill(y, y + n, extra);
  } else {
    AddToSums(start, extra, n, y);
  }
}

void RunPlainTile(const Int8WordTile& tile) {
  for (int64_t r = 0; r < tile.count; ++r) {
    const int16_t* x = tile.rows + r * tile.row_stride;
    const int16_t* w = tile.weights;
    int32_t* sums = tile.sums + r * tile.sums_stride;
    for (int64_t p = 0; p < tile.pairs; ++p, x += 2, w += 2 * kLanesOfBlock) {
      for (int n = 0; n < kLanesOfBlock; ++n) {
        const int32_t products = x[0] * w[2 * n] + x[1] * w[2 * n + 1];
        sums[n] = math::WrappingAdd(sums[n], products);
      }
    }
  }
}

#if defined(__x86_64__)

Int8Isa BestInt8Isa() {
  switch (CpuIsa()) {
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512vnni") ? Int8Isa::kVnni : Int8Isa::kAvx2;
    case Isa::kAvx2:
      return Int8Isa::kAvx2;
    default:
      return Int8Isa::kPlain;
  }
}

namespace {

#define CAFFE2RT_TARGET_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")))

template <int kRows, int kBlocks>
CAFFE2RT_TARGET_VNNI void VnniTile(const Int8VnniTile& tile) {
  __m512i sums[kRows][kBlocks];
  for (int r = 0; r < kRows; ++r) {
    for (int b = 0; b < kBlocks; ++b) {
      sums[r][b] = _mm512_loadu_si512(tile.sums + r * tile.sums_stride + b * kLanesOfBlock);
    }
  }
  const uint8_t* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = tile.rows[r];
  const int8_t* weights = tile.weights;
  const int64_t quads = tile.quads, block_stride = tile.block_stride;
  for (int64_t q = 0; q < quads; ++q, weights += 4 * kLanesOfBlock) {
    __m512i w[kBlocks];
    for (int b = 0; b < kBlocks; ++b) w[b] = _mm512_loadu_si512(weights + b * block_stride);
    for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, rows[r] + 4 * q, sizeof(quad));
      const __m512i x = _mm512_set1_epi32(quad);
      for (int b = 0; b < kBlocks; ++b) sums[r][b] = _mm512_dpbusd_epi32(sums[r][b], x, w[b]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int b = 0; b < kBlocks; ++b) {
      _mm512_storeu_si512(tile.sums + r * tile.sums_stride + b * kLanesOfBlock, sums[r][b]);
    }
  }
}

// Two vectors of eight sums for each row.
template <int kRows>
CAFFE2RT_TARGET_AVX2 void Avx2Tile(const Int8WordTile& tile, int64_t first) {
  constexpr int kLanes = kLanesOfBlock / 2;
  __m256i low[kRows], high[kRows];
  int32_t* out = tile.sums + first * tile.sums_stride;
  for (int r = 0; r < kRows; ++r) {
    const auto* at = reinterpret_cast<const __m256i*>(out + r * tile.sums_stride);
    low[r] = _mm256_loadu_si256(at);
    high[r] = _mm256_loadu_si256(at + 1);
  }
  const int16_t* weights = tile.weights;
  const int16_t* rows = tile.rows + first * tile.row_stride;
  for (int64_t p = 0; p < tile.pairs; ++p, weights += 4 * kLanes) {
    const __m256i w0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    const __m256i w1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 2 * kLanes));
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      std::memcpy(&pair, rows + r * tile.row_stride + 2 * p, sizeof(pair));
      const __m256i x = _mm256_set1_epi32(pair);
      low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(x, w0));
      high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(x, w1));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    auto* at = reinterpret_cast<__m256i*>(out + r * tile.sums_stride);
    _mm256_storeu_si256(at, low[r]);
    _mm256_storeu_si256(at + 1, high[r]);
  }
}

template <int kBlocks>
void RunVnniRows(const Int8VnniTile& tile, int64_t count) {
  if (count > 4) return VnniTile<8, kBlocks>(tile);
  if (count > 2) return VnniTile<4, kBlocks>(tile);
  if (count > 1) return VnniTile<2, kBlocks>(tile);
  VnniTile<1, kBlocks>(tile);
}

}  // namespace

void RunVnniTile(const Int8VnniTile& tile, int64_t count, bool two_blocks) {
  if (two_blocks) return RunVnniRows<2>(tile, count);
  RunVnniRows<1>(tile, count);
}

void RunAvx2Tile(const Int8WordTile& tile) {
  int64_t r = 0;
  for (; r + 4 <= tile.count; r += 4) Avx2Tile<4>(tile, r);
  for (; r + 2 <= tile.count; r += 2) Avx2Tile<2>(tile, r);
  if (r < tile.count) Avx2Tile<1>(tile, r);
}

#else

Int8Isa BestInt8Isa() { return Int8Isa::kPlain; }
// Never called: BestInt8Isa is the only source of other values.
void RunVnniTile(const Int8VnniTile&, int64_t, bool) {}
void RunAvx2Tile(const Int8WordTile& tile) { RunPlainTile(tile); }

#endif

}  // namespace caffe2rt
