#include "operators/primitives/packed_gemm.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

constexpr int kMaxRows = 12;
constexpr int kMaxWidth = 2 * Avx512Lanes::kWidth;

// A part of C that stays in registers: up to kMaxRows rows and one panel.
struct Tile {
  int64_t k;
  const float* a;
  int64_t lda;
  const float* b;
  const float* bias;  // one for each column of the panel
  bool sum;
  float lowest, highest;  // bounds of the results; a NaN stays
  float* c;
  int64_t ldc;
};

// Calls function(constant) for the constants 0 to kCount - 1. The compiler does not unroll loops of
// this size at -O2, and sums in arrays stay in registers only if every index is a constant.
template <class Function, int... kIndices>
[[gnu::always_inline]] inline void UnrollOver(const Function& function,
                                              std::integer_sequence<int, kIndices...>) {
  (function(std::integral_constant<int, kIndices>{}), ...);
}
template <int kCount, class Function>
[[gnu::always_inline]] inline void Unroll(const Function& function) {
  UnrollOver(function, std::make_integer_sequence<int, kCount>{});
}

// Each row of B is loaded once and multiplied by kRows elements of A, which instructions read from
// memory. Rows of A are addressed from every third row, so that the addresses fit into registers.
// With kVectors = 1, only the first half of the panel is computed.
template <class L, int kRows, int kVectors>
[[gnu::always_inline]] inline void TileBody(const Tile& tile) {
  using Vector = typename L::Vector;
  constexpr int kGroups = (kRows + 2) / 3;
  constexpr bool kBoth = kVectors == 2;
  Vector low[kRows] = {}, high[kBoth ? kRows : 1] = {};
  const int64_t k = tile.k, lda = tile.lda;
  const float* a[kGroups];
  Unroll<kGroups>([&](auto g) __attribute__((always_inline)) { a[g] = tile.a + 3 * g * lda; });
  const float* b = tile.b;
  for (int64_t p = 0; p < k; ++p, b += 2 * L::kWidth) {
    const Vector b_low = L::At(b).lanes, b_high = kBoth ? L::At(b + L::kWidth).lanes : Vector{};
    Unroll<kRows>([&](auto r) __attribute__((always_inline)) {
      const float factor = a[r / 3][r % 3 * lda];
      low[r] += b_low * factor;
      if constexpr (kBoth) high[r] += b_high * factor;
    });
    Unroll<kGroups>([&](auto g) __attribute__((always_inline)) { ++a[g]; });
  }
  const Vector bias_low = L::At(tile.bias).lanes;
  const Vector bias_high = kBoth ? L::At(tile.bias + L::kWidth).lanes : Vector{};
  float* c = tile.c;
  const int64_t ldc = tile.ldc;
  const bool sum = tile.sum;
  const Vector lowest = Vector{} + tile.lowest, highest = Vector{} + tile.highest;
  const auto finish = [&](const Vector& product, const Vector& add, float* to)
      __attribute__((always_inline)) {
    Vector value = product + add;
    if (sum) value += L::At(to).lanes;
    value = value < lowest ? lowest : value;
    value = value > highest ? highest : value;
    L::At(to).lanes = value;
  };
  Unroll<kRows>([&](auto r) __attribute__((always_inline)) {
    finish(low[r], bias_low, c);
    if constexpr (kBoth) finish(high[r], bias_high, c + L::kWidth);
    c += ldc;
  });
}

template <int kRows, int kVectors>
CAFFE2RT_TARGET_AVX512 void TileAvx512(const Tile& tile) {
  TileBody<Avx512Lanes, kRows, kVectors>(tile);
}
template <int kRows, int kVectors>
CAFFE2RT_TARGET_AVX2 void TileAvx2(const Tile& tile) {
  TileBody<Avx2Lanes, kRows, kVectors>(tile);
}
template <int kRows, int kVectors>
void TilePlain(const Tile& tile) {
  TileBody<PlainLanes, kRows, kVectors>(tile);
}

// The tiles of an instruction set: as many rows as the registers hold.
using TileFunction = void(const Tile&);
struct Tiles {
  int width;
  int rows;
  TileFunction* run[2][kMaxRows];  // at [vectors - 1][rows - 1]

  TileFunction* Pick(int64_t columns, int64_t tile_rows) const {
    return run[columns > width / 2 ? 1 : 0][tile_rows - 1];
  }
};
#define CAFFE2RT_TILES_OF_4(Name, vectors) \
  Name<1, vectors>, Name<2, vectors>, Name<3, vectors>, Name<4, vectors>
#define CAFFE2RT_TILES_OF_6(Name, vectors) \
  CAFFE2RT_TILES_OF_4(Name, vectors), Name<5, vectors>, Name<6, vectors>
#define CAFFE2RT_TILES_OF_12(Name, vectors)                                                 \
  CAFFE2RT_TILES_OF_6(Name, vectors), Name<7, vectors>, Name<8, vectors>, Name<9, vectors>, \
      Name<10, vectors>, Name<11, vectors>, Name<12, vectors>
constexpr Tiles kAvx512Tiles = {
    2 * Avx512Lanes::kWidth,
    12,
    {{CAFFE2RT_TILES_OF_12(TileAvx512, 1)}, {CAFFE2RT_TILES_OF_12(TileAvx512, 2)}}};
constexpr Tiles kAvx2Tiles = {
    2 * Avx2Lanes::kWidth,
    6,
    {{CAFFE2RT_TILES_OF_6(TileAvx2, 1)}, {CAFFE2RT_TILES_OF_6(TileAvx2, 2)}}};
constexpr Tiles kPlainTiles = {
    2 * PlainLanes::kWidth,
    4,
    {{CAFFE2RT_TILES_OF_4(TilePlain, 1)}, {CAFFE2RT_TILES_OF_4(TilePlain, 2)}}};
#undef CAFFE2RT_TILES_OF_4
#undef CAFFE2RT_TILES_OF_6
#undef CAFFE2RT_TILES_OF_12

const Tiles& TilesOfCpu() { return *PickByIsa(&kAvx512Tiles, &kAvx2Tiles, &kPlainTiles); }

constexpr float kZeros[kMaxWidth] = {};

// Multiplies by the panel that begins at column `column`. Rows are divided evenly among tiles.
void MultiplyPanel(const Tiles& tiles, const PackedProduct& p, int64_t column) {
  const int64_t columns = std::min<int64_t>(tiles.width, p.n - column);
  const bool whole = columns == tiles.width || columns == tiles.width / 2;
  alignas(64) float bias[kMaxWidth] = {};
  alignas(64) float rest[kMaxRows * kMaxWidth];
  if (p.sum && !whole) std::fill_n(rest, kMaxRows * kMaxWidth, 0.0f);
  const float* tile_bias = p.bias == nullptr ? kZeros : p.bias + column;
  if (p.bias != nullptr && !whole) {
    std::copy_n(tile_bias, columns, bias);
    tile_bias = bias;
  }
  float lowest, highest;
  const bool bounded = FindBounds(p.activation, &lowest, &highest);
  const int64_t blocks = (p.m + tiles.rows - 1) / tiles.rows;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = p.m * i / blocks, rows = p.m * (i + 1) / blocks - first;
    float* const c = p.c + first * p.ldc + column;
    float* const to = whole ? c : rest;
    const int64_t ld = whole ? p.ldc : tiles.width;
    for (int64_t r = 0; p.sum && !whole && r < rows; ++r) {
      std::copy_n(c + r * p.ldc, columns, rest + r * ld);
    }
    TileFunction* const run = tiles.Pick(columns, rows);
    run({p.k, p.a + first * p.lda, p.lda, p.b + column * p.k, tile_bias, p.sum, lowest, highest, to,
         ld});
    if (!bounded) FinishRows(nullptr, p.activation, rows, columns, to, ld);
    for (int64_t r = 0; !whole && r < rows; ++r) std::copy_n(rest + r * ld, columns, c + r * p.ldc);
  }
}

// Copies columns [column, column + columns) of B, given as rows of its transpose. Tiles keep the
// cache lines of both sides in use.
void PackTransposedPanel(int64_t k, int64_t columns, int64_t width, const float* b, int64_t ldb,
                         float* panel) {
  constexpr int64_t kBlock = 16;
  for (int64_t p = 0; p < k; p += kBlock) {
    const int64_t end = std::min(p + kBlock, k);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t q = p; q < end; ++q) panel[q * width + j] = b[j * ldb + q];
    }
    for (int64_t j = columns; j < width; ++j) {
      for (int64_t q = p; q < end; ++q) panel[q * width + j] = 0;
    }
  }
}

}  // namespace

int PanelWidth() { return TilesOfCpu().width; }

int64_t PackedFloats(int64_t k, int64_t n) {
  const int64_t width = PanelWidth();
  return CheckedMultiply(CheckedMultiply(n / width + (n % width != 0), width), k);
}

void PackMatrix(bool transposed, int64_t k, int64_t n, const float* b, int64_t ldb, float* packed) {
  const int64_t width = PanelWidth();
  for (int64_t column = 0; column < n; column += width, packed += k * width) {
    const int64_t columns = std::min(width, n - column);
    if (transposed) {
      PackTransposedPanel(k, columns, width, b + column * ldb, ldb, packed);
      continue;
    }
    for (int64_t p = 0; p < k; ++p) {
      float* const to = packed + p * width;
      std::copy_n(b + p * ldb + column, columns, to);
      std::fill_n(to + columns, width - columns, 0.f);
    }
  }
}

void UnpackMatrix(bool transposed, int64_t k, int64_t n, const float* packed, int64_t ldb,
                  float* b) {
  const int64_t width = PanelWidth();
  for (int64_t column = 0; column < n; column += width, packed += k * width) {
    const int64_t columns = std::min(width, n - column);
    for (int64_t p = 0; p < k; ++p) {
      const float* const from = packed + p * width;
      for (int64_t c = 0; c < columns; ++c) {
        b[transposed ? (column + c) * ldb + p : p * ldb + column + c] = from[c];
      }
    }
  }
}

void MultiplyPacked(const PackedProduct& product) {
  // Panels pass by a block of rows of A that stays in the second-level cache.
  constexpr int64_t kCachedFloats = 1 << 17;
  const Tiles& tiles = TilesOfCpu();
  const int64_t tall =
      std::max<int64_t>(1, kCachedFloats / std::max<int64_t>(product.k, 1) / tiles.rows) *
      tiles.rows;
  const int64_t blocks = (product.m + tall - 1) / tall;
  for (int64_t i = 0; i < blocks; ++i) {
    PackedProduct block = product;
    const int64_t first = product.m * i / blocks;
    block.m = product.m * (i + 1) / blocks - first;
    block.a += first * product.lda;
    block.c += first * product.ldc;
    for (int64_t column = 0; column < product.n; column += tiles.width) {
      MultiplyPanel(tiles, block, column);
    }
  }
}

void MultiplyPackedInParallel(const PackedProduct& product) {
  const double work = static_cast<double>(product.m) * static_cast<double>(product.n) *
                      static_cast<double>(product.k);
  const int64_t threads = work < kGemmWorthCutting ? 1 : GetNumThreads();
  if (threads == 1) return MultiplyPacked(product);
  const Tiles& tiles = TilesOfCpu();
  const int64_t panels = (product.n + tiles.width - 1) / tiles.width;
  const int64_t rows = (product.m + tiles.rows - 1) / tiles.rows;
  // The units of the busiest thread, relative to an even division.
  const auto imbalance = [threads](int64_t units) {
    return static_cast<double>((units + threads - 1) / threads * threads) /
           static_cast<double>(units);
  };
  // Panels are preferred: then each thread reads only its part of B.
  const bool by_panels = imbalance(panels) <= imbalance(rows);
  const int64_t units = by_panels ? panels : rows;
  const int64_t pieces = std::min(threads, units);
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    PackedProduct part = product;
    if (by_panels) {
      const int64_t first = units * piece / pieces * tiles.width;
      const int64_t last = std::min(units * (piece + 1) / pieces * tiles.width, product.n);
      part.n = last - first;
      part.b += first * product.k;
      if (part.bias != nullptr) part.bias += first;
      part.c += first;
    } else {
      const int64_t first = units * piece / pieces * tiles.rows;
      part.m = std::min(units * (piece + 1) / pieces * tiles.rows, product.m) - first;
      part.a += first * product.lda;
      part.c += first * product.ldc;
    }
    MultiplyPacked(part);
  });
}

}  // namespace caffe2rt
