// Packed form of bytes: the scale of each column, the sums of the bytes of each column, and the panels.
// Of bf16: the panels.

#include "operators/primitives/reduced_gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/reduced_tiles.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr int64_t kFloatBytes = sizeof(float);
// Panels pass by a block of converted rows that stays in the second-level cache.
constexpr int64_t kCachedBytes = 1 << 18;

constexpr float kNoBias[ReducedTiles::kMostColumns] = {};

int64_t RoundUp(int64_t count, int64_t unit) { return CheckedAdd(count, unit - 1) / unit * unit; }

bool IsBytes(ReducedKernel kernel) { return kernel != ReducedKernel::kBf16; }

// A column of B, whose elements are `step` apart.
struct Column {
  const float* data;
  int64_t step, k;
  float at(int64_t i) const { return data[i * step]; }
};

// NaN if an element is not finite.
float ScaleOf(const Column& column) {
  float largest = 0;
  bool finite = true;
  for (int64_t i = 0; i < column.k; ++i) {
    largest = std::max(largest, std::fabs(column.at(i)));
    finite = finite && std::isfinite(column.at(i));
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  const float scale = largest / 127;
  return scale >= std::numeric_limits<float>::min() ? scale : 1;
}

// Where the elements of a column are in its panel.
struct PanelColumn {
  int8_t* first;
  int64_t together, width;
  int8_t& at(int64_t i) const { return first[i / together * together * width + i % together]; }
};

void PackColumn(const Column& column, const PanelColumn& to, float* scale, int32_t* sum) {
  *scale = ScaleOf(column);
  *sum = 0;
  if (std::isnan(*scale)) return;
  for (int64_t i = 0; i < column.k; ++i) {
    const float q = std::clamp(std::nearbyint(column.at(i) / *scale), -127.0f, 127.0f);
    to.at(i) = static_cast<int8_t>(q);
    *sum += static_cast<int32_t>(q);
  }
}

// The parts of a packed form.
struct Form {
  const float* scales;  // null for bf16
  const int32_t* sums;
  const char* panels;
};
Form PartsOf(ReducedKernel kernel, int64_t padded_n, const void* form) {
  if (!IsBytes(kernel)) return {nullptr, nullptr, static_cast<const char*>(form)};
  const auto* const scales = static_cast<const float*>(form);
  const auto* const sums = reinterpret_cast<const int32_t*>(scales + padded_n);
  return {scales, sums, reinterpret_cast<const char*>(sums + padded_n)};
}

// Rows of A as a kernel reads them.
struct ConvertedRows {
  char* data;
  int64_t stride;
  ReducedRow* rows;
};

}  // namespace

const char* ReducedKernelName(ReducedKernel kernel) {
  switch (kernel) {
    case ReducedKernel::kBf16:
      return "bf16";
    case ReducedKernel::kVnni:
      return "vnni";
    case ReducedKernel::kWordsAvx512:
      return "words_avx512";
    case ReducedKernel::kWordsAvx2:
      return "words_avx2";
    default:
      return "words";
  }
}

ReducedGemm::ReducedGemm(Precision precision, int64_t k, int64_t n)
    : ReducedGemm(precision == Precision::kInt8 ? BestByteKernel() : ReducedKernel::kBf16, k, n) {}

ReducedGemm::ReducedGemm(ReducedKernel kernel, int64_t k, int64_t n)
    : kernel_(kernel), k_(k), n_(n) {
  CAFFE_ENFORCE(k >= 0 && n >= 0 && (!IsBytes(kernel) || k <= kMaxByteTerms), "a matrix of ", k,
                " x ", n, " cannot be packed as ", ReducedKernelName(kernel), ", want at most ",
                kMaxByteTerms, " rows of bytes");
  const ReducedTiles& tiles = TilesOf(kernel);
  groups_ = RoundUp(k, tiles.together) / tiles.together;
  const int64_t padded_n = RoundUp(n, tiles.width);
  const int64_t column = CheckedMultiply<int64_t>(groups_, tiles.together * tiles.b_bytes) +
                         (IsBytes(kernel) ? 2 * kFloatBytes : 0);
  nbytes_ = static_cast<size_t>(RoundUp(CheckedMultiply(padded_n, column), 64));
}

int64_t ReducedGemm::width() const { return TilesOf(kernel_).width; }

void ReducedGemm::Pack(bool transposed, const float* b, int64_t ldb, void* form) const {
  const ReducedTiles& tiles = TilesOf(kernel_);
  const int64_t padded_n = RoundUp(n_, tiles.width);
  const Form parts = PartsOf(kernel_, padded_n, form);
  char* const panels = const_cast<char*>(parts.panels);
  const int64_t panel_bytes = groups_ * tiles.together * tiles.width * tiles.b_bytes;
  if (k_ == 0) {  // B may be null
    std::fill_n(static_cast<char*>(form), nbytes_, char{0});
    return;
  }
  if (!IsBytes(kernel_)) {
    for (int64_t j = 0; j < n_; j += tiles.width) {
      const int64_t columns = std::min<int64_t>(tiles.width, n_ - j);
      char* const panel = panels + j / tiles.width * panel_bytes;
      if (columns < tiles.width) std::fill_n(panel, panel_bytes, char{0});
      PackBf16Panel(transposed, k_, columns, transposed ? b + j * ldb : b + j, ldb, panel);
    }
    return;
  }
  std::fill_n(static_cast<char*>(form), nbytes_, char{0});
  for (int64_t j = 0; j < n_; ++j) {
    const Column column = transposed ? Column{b + j * ldb, 1, k_} : Column{b + j, ldb, k_};
    char* const at = panels + j / tiles.width * panel_bytes + j % tiles.width * tiles.together;
    PackColumn(column, {reinterpret_cast<int8_t*>(at), tiles.together, tiles.width},
               const_cast<float*>(parts.scales + j), const_cast<int32_t*>(parts.sums + j));
  }
}

namespace {

// The distance of converted rows: whole vectors, and not a power of two, so that rows do not compete
// for the same lines of the cache.
int64_t StrideOf(const ReducedTiles& tiles, int64_t groups) {
  const int64_t bytes = RoundUp(groups * tiles.together * tiles.a_bytes, 64);
  return bytes % 1024 == 0 ? bytes + 64 : bytes;
}

int64_t RowsAtOnce(const ReducedTiles& tiles, int64_t stride) {
  return std::max<int64_t>(1, kCachedBytes / std::max<int64_t>(stride, 1) / tiles.rows) *
         tiles.rows;
}

// Multiplies the rows by the panel that begins at column `column`. Rows are divided evenly among tiles.
void MultiplyPanel(const ReducedTiles& tiles, const ReducedProduct& p, const ConvertedRows& rows,
                   int64_t column, int64_t columns, ReducedTile tile) {
  const bool whole = columns == tiles.width;
  alignas(64) float bias[ReducedTiles::kMostColumns] = {};
  alignas(64) float rest[ReducedTiles::kMostRows * ReducedTiles::kMostColumns];
  tile.bias = p.bias == nullptr ? kNoBias : p.bias + column;
  if (p.bias != nullptr && !whole) {
    std::copy_n(tile.bias, columns, bias);
    tile.bias = bias;
  }
  const bool bounded = FindBounds(p.activation, &tile.lowest, &tile.highest);
  const int64_t blocks = (p.m + tiles.rows - 1) / tiles.rows;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = p.m * i / blocks, count = p.m * (i + 1) / blocks - first;
    float* const c = p.c + first * p.ldc + column;
    tile.a = rows.data + first * rows.stride;
    tile.rows = rows.rows + first;
    tile.c = whole ? c : rest;
    tile.ldc = whole ? p.ldc : tiles.width;
    tiles.run[count - 1](tile);
    if (!bounded) FinishRows(nullptr, p.activation, count, columns, tile.c, tile.ldc);
    for (int64_t r = 0; !whole && r < count; ++r) {
      std::copy_n(rest + r * tile.ldc, columns, c + r * p.ldc);
    }
  }
}

}  // namespace

int64_t ReducedGemm::ScratchFloats(int64_t m) const {
  const ReducedTiles& tiles = TilesOf(kernel_);
  const int64_t stride = StrideOf(tiles, groups_);
  const int64_t rows = std::min(m, RowsAtOnce(tiles, stride));
  const int64_t row_bytes = CheckedAdd(stride, static_cast<int64_t>(sizeof(ReducedRow)));
  return AlignedFloats(CheckedMultiply(rows, row_bytes) / kFloatBytes + 1);
}

// The columns [first, last), where `first` begins a panel.
void ReducedGemm::MultiplyColumns(const ReducedProduct& product, int64_t first, int64_t last,
                                  float* scratch) const {
  const ReducedTiles& tiles = TilesOf(kernel_);
  const Form form = PartsOf(kernel_, RoundUp(n_, tiles.width), product.b);
  const int64_t panel_bytes = groups_ * tiles.together * tiles.width * tiles.b_bytes;
  const int64_t stride = StrideOf(tiles, groups_);
  const int64_t tall = RowsAtOnce(tiles, stride);
  const int64_t blocks = (product.m + tall - 1) / tall;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t from = product.m * i / blocks;
    ReducedProduct block = product;
    block.m = product.m * (i + 1) / blocks - from;
    block.c += from * product.ldc;
    auto* const data = reinterpret_cast<char*>(scratch);
    const ConvertedRows rows = {data, stride,
                                reinterpret_cast<ReducedRow*>(data + block.m * stride)};
    for (int64_t r = 0; r < block.m; ++r) {
      rows.rows[r] = tiles.convert(k_, product.a + (from + r) * product.lda, data + r * stride);
    }
    for (int64_t column = first; column < last; column += tiles.width) {
      ReducedTile tile = {.groups = groups_, .a_stride = stride};
      tile.b = form.panels + column / tiles.width * panel_bytes;
      if (form.scales != nullptr) {
        tile.scales = form.scales + column;
        tile.sums = form.sums + column;
      }
      MultiplyPanel(tiles, block, rows, column, std::min<int64_t>(tiles.width, last - column),
                    tile);
    }
  }
}

void ReducedGemm::Multiply(const ReducedProduct& product, float* scratch) const {
  MultiplyColumns(product, 0, n_, scratch);
}

namespace {

// The units of the busiest thread, relative to an even division.
double Imbalance(int64_t units, int64_t pieces) {
  return static_cast<double>((units + pieces - 1) / pieces * pieces) /
         static_cast<double>(std::max<int64_t>(units, 1));
}

// Threads divide the rows in units. A tile with some rows less takes less time.
int64_t RowUnit(const ReducedTiles& tiles) { return std::max(tiles.rows / 3, 1); }

// Threads that divide the columns convert all rows each, so rows are preferred.
bool DividesRows(int64_t row_units, int64_t panels, int64_t pieces) {
  constexpr double kCostOfConversion = 1.1;
  return Imbalance(row_units, pieces) <= Imbalance(panels, pieces) * kCostOfConversion;
}

}  // namespace

int ReducedGemm::Pieces(int64_t m, int threads) const {
  const double work = static_cast<double>(m) * static_cast<double>(n_) * static_cast<double>(k_);
  // Products are added about three times as fast as those of floats.
  if (threads <= 1 || work < 3 * kGemmWorthCutting) return 1;
  const ReducedTiles& tiles = TilesOf(kernel_);
  const int64_t unit = RowUnit(tiles), row_units = (m + unit - 1) / unit;
  const int64_t panels = (n_ + tiles.width - 1) / tiles.width;
  return static_cast<int>(
      std::min<int64_t>(threads, DividesRows(row_units, panels, threads) ? row_units : panels));
}

void ReducedGemm::MultiplyPiece(const ReducedProduct& product, int piece, int pieces,
                                float* scratch) const {
  if (pieces == 1) return Multiply(product, scratch);
  const ReducedTiles& tiles = TilesOf(kernel_);
  const int64_t unit = RowUnit(tiles), row_units = (product.m + unit - 1) / unit;
  const int64_t panels = (n_ + tiles.width - 1) / tiles.width;
  if (DividesRows(row_units, panels, pieces)) {
    const int64_t first = row_units * piece / pieces * unit;
    const int64_t last = std::min(row_units * (piece + 1) / pieces * unit, product.m);
    ReducedProduct part = product;
    part.m = last - first;
    part.a += first * product.lda;
    part.c += first * product.ldc;
    return Multiply(part, scratch);
  }
  MultiplyColumns(product, panels * piece / pieces * tiles.width,
                  std::min(panels * (piece + 1) / pieces * tiles.width, n_), scratch);
}

}  // namespace caffe2rt
