// Y = A^T [(G g G^T) * (B^T d B)] A for each tile, where the product is elementwise and is summed over
// the input channels: for each of the 36 positions in a tile, a matrix multiplication of
// [tiles, in_channels] by [in_channels, out_channels].
//
// Tiles are processed in blocks, so that the transformed inputs and products of a block stay in the
// caches.

#include "operators/conv/winograd_conv.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "operators/conv/winograd_transforms.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

namespace {

constexpr int kTile = kWinogradTile;
constexpr int kInput = kWinogradInput;
constexpr int kPositions = kWinogradPositions;

// Rows of matrices begin one cache line after a multiple of their length, and so do matrices after
// another, because addresses with a distance of 4 KiB use the same places in the first-level cache.
constexpr int64_t kGap = 16;

// A block of tiles, and where its matrices are.
struct Block {
  int64_t first = 0, last = 0;  // tiles, numbered over all images
  float* inputs = nullptr;      // [kPositions][tiles][in_channels], with gaps
  float* products = nullptr;    // [kPositions][tiles][columns], with gaps
  int64_t columns = 0;          // of products: output channels from first_column on
  int64_t first_column = 0;

  int64_t tiles() const { return last - first; }
};
int64_t RowFloats(int64_t columns) { return columns + kGap; }
int64_t MatrixFloats(int64_t tiles, int64_t columns) { return tiles * RowFloats(columns) + kGap; }

struct TileGrid {
  int64_t rows, columns;  // of tiles in an image
  explicit TileGrid(const WinogradConv& conv)
      : rows((conv.out_height + kTile - 1) / kTile),
        columns((conv.out_width + kTile - 1) / kTile) {}
  int64_t image() const { return rows * columns; }
};

// The place of a tile.
struct TilePlace {
  int64_t image, row, column;  // of its first result
  TilePlace(const TileGrid& grid, int64_t tile)
      : image(tile / grid.image()),
        row(tile % grid.image() / grid.columns * kTile),
        column(tile % grid.columns * kTile) {}
};

// --- input ---

// Where the inputs of a tile are. Rows and columns outside [first, last) are padding.
struct InputTile {
  const float* x;  // of row 0 and column 0, which may be outside X
  int64_t row, pixel;
  int first_row, last_row, first_column, last_column;
};

// One vector of channels. Matrices of `out` are `matrix` floats apart.
template <class L, bool kPadded>
[[gnu::always_inline]] inline void TransformInputTile(const InputTile& tile, int64_t channel,
                                                      int64_t matrix, float* out) {
  using Vector = typename L::Vector;
  Vector half[kInput][kInput];  // B^T d, transposed
  CAFFE2RT_UNROLL
  for (int j = 0; j < kInput; ++j) {
    Vector d[kInput];
    const bool column = !kPadded || (j >= tile.first_column && j < tile.last_column);
    CAFFE2RT_UNROLL
    for (int i = 0; i < kInput; ++i) {
      const bool inside = !kPadded || (column && i >= tile.first_row && i < tile.last_row);
      d[i] = inside ? L::At(tile.x + i * tile.row + j * tile.pixel + channel).lanes : Vector{};
    }
    TransformInput(d, half[j]);
  }
  CAFFE2RT_UNROLL
  for (int i = 0; i < kInput; ++i) {
    Vector d[kInput], t[kInput];
    CAFFE2RT_UNROLL
    for (int j = 0; j < kInput; ++j) d[j] = half[j][i];
    TransformInput(d, t);
    CAFFE2RT_UNROLL
    for (int j = 0; j < kInput; ++j) L::At(out + (i * kInput + j) * matrix).lanes = t[j];
  }
}

// Channels [from, to) of the block's inputs.
template <class L>
[[gnu::always_inline]] inline void TransformInputs(const WinogradConv& conv, const float* x,
                                                   const Block& block, int64_t from, int64_t to) {
  const TileGrid grid(conv);
  const ChannelPlanes& planes = conv.x;
  const int64_t matrix = MatrixFloats(block.tiles(), planes.channels);
  const auto clamp = [](int64_t i) { return static_cast<int>(std::clamp<int64_t>(i, 0, kInput)); };
  for (int64_t t = block.first; t < block.last; ++t) {
    const TilePlace place(grid, t);
    const int64_t row = place.row - conv.pad_top, column = place.column - conv.pad_left;
    InputTile tile{.x = nullptr,
                   .row = planes.width * planes.lanes(),
                   .pixel = planes.lanes(),
                   .first_row = clamp(-row),
                   .last_row = clamp(planes.height - row),
                   .first_column = clamp(-column),
                   .last_column = clamp(planes.width - column)};
    const bool padded = tile.first_row > 0 || tile.last_row < kInput || tile.first_column > 0 ||
                        tile.last_column < kInput;
    const int64_t start = place.image * planes.image_size() + row * tile.row + column * tile.pixel;
    float* const out = block.inputs + (t - block.first) * RowFloats(planes.channels);
    for (int64_t c = from; c < to; c += kLanes) {
      tile.x = x + start + c / kLanes * planes.vector_stride();
      for (int part = 0; part < kLanes; part += L::kWidth) {
        if (padded) {
          TransformInputTile<L, true>(tile, part, matrix, out + c + part);
        } else {
          TransformInputTile<L, false>(tile, part, matrix, out + c + part);
        }
      }
    }
  }
}

// --- output ---

struct OutputTile {
  float* y;
  int64_t row, pixel;
  int rows, columns;  // inside Y
};

template <class L, bool kSum>
[[gnu::always_inline]] inline void TransformOutputTile(const OutputTile& tile, const float* in,
                                                       int64_t matrix, const float* bias,
                                                       float lowest, float highest, float* y) {
  using Vector = typename L::Vector;
  Vector half[kInput][kTile];
  CAFFE2RT_UNROLL
  for (int i = 0; i < kInput; ++i) {
    Vector m[kInput];
    CAFFE2RT_UNROLL
    for (int j = 0; j < kInput; ++j) m[j] = L::At(in + (i * kInput + j) * matrix).lanes;
    TransformOutput(m, half[i]);
  }
  const Vector add = bias == nullptr ? Vector{} : L::At(bias).lanes;
  const Vector low = Vector{} + lowest, high = Vector{} + highest;
  CAFFE2RT_UNROLL
  for (int j = 0; j < kTile; ++j) {
    if (j >= tile.columns) break;
    Vector m[kInput], result[kTile];
    CAFFE2RT_UNROLL
    for (int i = 0; i < kInput; ++i) m[i] = half[i][j];
    TransformOutput(m, result);
    CAFFE2RT_UNROLL
    for (int i = 0; i < kTile; ++i) {
      if (i >= tile.rows) break;
      float* const to = y + i * tile.row + j * tile.pixel;
      Vector value = result[i] + add;
      if (kSum) value += L::At(to).lanes;
      value = value < low ? low : value;
      value = value > high ? high : value;
      L::At(to).lanes = value;
    }
  }
}

// The columns of the block's products.
template <class L, bool kSum>
[[gnu::always_inline]] inline void TransformOutputs(const WinogradConv& conv, const Block& block,
                                                    const float* bias, float* y) {
  const TileGrid grid(conv);
  const ChannelPlanes planes = conv.y();
  const int64_t matrix = MatrixFloats(block.tiles(), block.columns);
  const auto clamp = [](int64_t i) { return static_cast<int>(std::min<int64_t>(i, kTile)); };
  for (int64_t t = block.first; t < block.last; ++t) {
    const TilePlace place(grid, t);
    const OutputTile tile{.y = nullptr,
                          .row = planes.width * planes.lanes(),
                          .pixel = planes.lanes(),
                          .rows = clamp(planes.height - place.row),
                          .columns = clamp(planes.width - place.column)};
    const int64_t start =
        place.image * planes.image_size() + place.row * tile.row + place.column * tile.pixel;
    const float* const in = block.products + (t - block.first) * RowFloats(block.columns);
    for (int64_t k = 0; k < block.columns; k += kLanes) {
      const int64_t channel = block.first_column + k;
      float* const to = y + start + channel / kLanes * planes.vector_stride();
      for (int part = 0; part < kLanes; part += L::kWidth) {
        TransformOutputTile<L, kSum>(tile, in + k + part, matrix,
                                     bias == nullptr ? nullptr : bias + channel + part, conv.lowest,
                                     conv.highest, to + part);
      }
    }
  }
}

// --- filter ---

// Writes the packed matrices, a vector of output channels at a time.
template <class L>
[[gnu::always_inline]] inline void TransformFilter(const WinogradConv& conv, const float* filter,
                                                   float* prepared) {
  using Vector = typename L::Vector;
  constexpr int kTaps = 9;
  const int64_t in = conv.x.channels, panel = PanelWidth();
  const int64_t matrix = PackedFloats(in, conv.out_channels);
  for (int64_t k = 0; k < conv.out_channels; k += L::kWidth) {
    float* const column = prepared + k / panel * panel * in + k % panel;
    for (int64_t c = 0; c < in; ++c) {
      alignas(64) float taps[kTaps][L::kWidth];
      for (int i = 0; i < L::kWidth; ++i) {
        const float* const g = filter + ((k + i) * in + c) * kTaps;
        for (int tap = 0; tap < kTaps; ++tap) taps[tap][i] = g[tap];
      }
      Vector half[3][kInput];  // G g, transposed
      CAFFE2RT_UNROLL
      for (int j = 0; j < 3; ++j) {
        TransformTaps(L::At(taps[j]).lanes, L::At(taps[3 + j]).lanes, L::At(taps[6 + j]).lanes,
                      half[j]);
      }
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector t[kInput];
        TransformTaps(half[0][i], half[1][i], half[2][i], t);
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) {
          L::At(column + c * panel + (i * kInput + j) * matrix).lanes = t[j];
        }
      }
    }
  }
}

// --- instruction sets ---

using InputFunction = void(const WinogradConv&, const float*, const Block&, int64_t, int64_t);
using FilterFunction = void(const WinogradConv&, const float*, float*);
using OutputFunction = void(const WinogradConv&, const Block&, const float*, float*);

#define CAFFE2RT_WINOGRAD_ISA(Name, LanesType, target)                                          \
  struct Name {                                                                                 \
    target static void Filter(const WinogradConv& conv, const float* filter, float* prepared) { \
      TransformFilter<LanesType>(conv, filter, prepared);                                       \
    }                                                                                           \
    target static void Inputs(const WinogradConv& conv, const float* x, const Block& block,     \
                              int64_t from, int64_t to) {                                       \
      TransformInputs<LanesType>(conv, x, block, from, to);                                     \
    }                                                                                           \
    target static void Outputs(const WinogradConv& conv, const Block& block, const float* bias, \
                               float* y) {                                                      \
      TransformOutputs<LanesType, false>(conv, block, bias, y);                                 \
    }                                                                                           \
    target static void OutputsWithSum(const WinogradConv& conv, const Block& block,             \
                                      const float* bias, float* y) {                            \
      TransformOutputs<LanesType, true>(conv, block, bias, y);                                  \
    }                                                                                           \
  }
CAFFE2RT_WINOGRAD_ISA(Avx512Winograd, Avx512Lanes, CAFFE2RT_TARGET_AVX512);
CAFFE2RT_WINOGRAD_ISA(Avx2Winograd, Avx2Lanes, CAFFE2RT_TARGET_AVX2);
CAFFE2RT_WINOGRAD_ISA(PlainWinograd, PlainLanes, );
#undef CAFFE2RT_WINOGRAD_ISA

InputFunction* InputsOfCpu() {
  return PickByIsa<InputFunction>(Avx512Winograd::Inputs, Avx2Winograd::Inputs,
                                  PlainWinograd::Inputs);
}
OutputFunction* OutputsOfCpu(bool sum) {
  if (sum) {
    return PickByIsa<OutputFunction>(Avx512Winograd::OutputsWithSum, Avx2Winograd::OutputsWithSum,
                                     PlainWinograd::OutputsWithSum);
  }
  return PickByIsa<OutputFunction>(Avx512Winograd::Outputs, Avx2Winograd::Outputs,
                                   PlainWinograd::Outputs);
}

// --- the multiplications ---

void Multiply(const WinogradConv& conv, const Block& block, const float* prepared) {
  const int64_t in = conv.x.channels, matrix = PackedFloats(in, conv.out_channels);
  for (int64_t p = 0; p < kPositions; ++p) {
    MultiplyPacked({.m = block.tiles(),
                    .n = block.columns,
                    .k = in,
                    .a = block.inputs + p * MatrixFloats(block.tiles(), in),
                    .lda = RowFloats(in),
                    .b = prepared + p * matrix + block.first_column * in,
                    .bias = nullptr,
                    .activation = {},
                    .sum = false,
                    .c = block.products + p * MatrixFloats(block.tiles(), block.columns),
                    .ldc = RowFloats(block.columns)});
  }
}

// How the work is divided. Threads have either tiles or output channels of their own.
struct Division {
  int64_t tiles = 0;        // in all images
  int64_t block_tiles = 0;  // the most in a block
  int pieces = 1;
  bool by_channels = false;
};

// Output channels are divided at multiples of this: whole panels, and whole vectors of kLanes.
int64_t ColumnUnit() { return std::max<int64_t>(PanelWidth(), kLanes); }
int64_t ColumnUnits(const WinogradConv& conv) {
  return (conv.out_channels + ColumnUnit() - 1) / ColumnUnit();
}

// A block's matrices should fit into the second-level cache, but each block reads the whole filter:
// it has enough tiles for the multiplications to take longer than that, more so if the filter is
// too large for the caches.
Division Divide(const WinogradConv& conv, int threads) {
  constexpr int64_t kBlockFloats = 1 << 18;
  constexpr int64_t kLargeFilter = 1 << 20;
  constexpr int64_t kFewTiles = 24, kManyTiles = 60;
  Division division;
  division.tiles = conv.x.batch * TileGrid(conv).image();
  const int64_t tile = kPositions * (conv.x.channels + conv.out_channels);
  const bool large = kPositions * conv.x.channels * conv.out_channels > kLargeFilter;
  const int64_t least = large ? kManyTiles : kFewTiles;
  const int64_t wanted = std::max(kBlockFloats / tile, least);
  const int64_t units = ColumnUnits(conv);
  const int64_t share = (division.tiles + threads - 1) / threads;
  division.by_channels = threads > 1 && share < least && units >= threads;
  division.pieces =
      static_cast<int>(std::min<int64_t>(threads, division.by_channels ? units : division.tiles));
  const int64_t tiles = division.by_channels ? division.tiles : share;
  const int64_t blocks = std::max<int64_t>(1, (tiles + wanted / 2) / wanted);
  division.block_tiles = (tiles + blocks - 1) / blocks;
  return division;
}

// The floats of the inputs and products of a block, each a multiple of a cache line.
int64_t BlockFloats(int64_t tiles, int64_t columns) {
  return CheckedMultiply<int64_t>(kPositions,
                                  CheckedAdd(CheckedMultiply(tiles, columns + kGap), kGap));
}
// The same for `pieces` pieces with `columns` columns in all.
int64_t FloatsOfPieces(int64_t tiles, int64_t columns, int64_t pieces) {
  const int64_t rows = CheckedMultiply(tiles, columns + pieces * kGap);
  return CheckedMultiply<int64_t>(kPositions, CheckedAdd(rows, pieces * kGap));
}

int64_t FirstColumn(const WinogradConv& conv, const Division& division, int piece) {
  return std::min(ColumnUnits(conv) * piece / division.pieces * ColumnUnit(), conv.out_channels);
}

// Each thread computes all channels of its tiles.
void RunByTiles(const WinogradConv& conv, const Division& division, const float* x,
                const float* prepared, const float* bias, float* y, float* scratch) {
  const int64_t inputs = BlockFloats(division.block_tiles, conv.x.channels);
  const int64_t products = BlockFloats(division.block_tiles, conv.out_channels);
  ParallelFor(division.pieces, [&](int piece) {
    const int64_t last = division.tiles * (piece + 1) / division.pieces;
    Block block{.inputs = scratch + piece * (inputs + products), .columns = conv.out_channels};
    block.products = block.inputs + inputs;
    for (int64_t t = division.tiles * piece / division.pieces; t < last; t = block.last) {
      block.first = t;
      block.last = std::min(t + division.block_tiles, last);
      InputsOfCpu()(conv, x, block, 0, conv.x.channels);
      Multiply(conv, block, prepared);
      OutputsOfCpu(conv.sum)(conv, block, bias, y);
    }
  });
}

// Threads divide the input channels of a block, then its output channels, so that each reads only
// its part of the filter.
void RunByChannels(const WinogradConv& conv, const Division& division, const float* x,
                   const float* prepared, const float* bias, float* y, float* scratch) {
  const int64_t inputs = BlockFloats(division.block_tiles, conv.x.channels);
  const int pieces = division.pieces;
  const int64_t vectors = conv.x.channels / kLanes;
  for (int64_t t = 0; t < division.tiles; t += division.block_tiles) {
    const Block whole{
        .first = t, .last = std::min(t + division.block_tiles, division.tiles), .inputs = scratch};
    ParallelFor(pieces, [&](int piece) {
      InputsOfCpu()(conv, x, whole, vectors * piece / pieces * kLanes,
                    vectors * (piece + 1) / pieces * kLanes);
    });
    ParallelFor(pieces, [&](int piece) {
      Block block = whole;
      block.first_column = FirstColumn(conv, division, piece);
      block.columns = FirstColumn(conv, division, piece + 1) - block.first_column;
      block.products =
          scratch + inputs + FloatsOfPieces(division.block_tiles, block.first_column, piece);
      Multiply(conv, block, prepared);
      OutputsOfCpu(conv.sum)(conv, block, bias, y);
    });
  }
}

}  // namespace

bool WinogradSupports(int64_t in_channels, int64_t out_channels) {
  return in_channels > 0 && out_channels > 0 && in_channels % kLanes == 0 &&
         out_channels % kLanes == 0;
}

int64_t PreparedWinogradSize(const WinogradConv& conv) {
  return CheckedMultiply<int64_t>(kPositions, PackedFloats(conv.x.channels, conv.out_channels));
}

void PrepareWinogradFilter(const WinogradConv& conv, const float* filter, float* prepared) {
  if (conv.out_channels % PanelWidth() != 0) {  // the last panel is filled up with zeros
    std::fill_n(prepared, PreparedWinogradSize(conv), 0.0f);
  }
  PickByIsa<FilterFunction>(Avx512Winograd::Filter, Avx2Winograd::Filter, PlainWinograd::Filter)(
      conv, filter, prepared);
}

int64_t WinogradScratchSize(const WinogradConv& conv, int threads) {
  const Division division = Divide(conv, threads);
  const int64_t inputs = BlockFloats(division.block_tiles, conv.x.channels);
  if (division.by_channels) {
    return CheckedAdd(inputs,
                      FloatsOfPieces(division.block_tiles, conv.out_channels, division.pieces));
  }
  const int64_t products = BlockFloats(division.block_tiles, conv.out_channels);
  return CheckedMultiply<int64_t>(division.pieces, CheckedAdd(inputs, products));
}

void RunWinograd(const WinogradConv& conv, const float* x, const float* prepared, const float* bias,
                 float* y, int threads, float* scratch) {
  if (conv.y().size() == 0) return;
  const Division division = Divide(conv, threads);
  const auto run = division.by_channels ? RunByChannels : RunByTiles;
  run(conv, division, x, prepared, bias, y, scratch);
}

}  // namespace caffe2rt
