// A tile is a few neighbouring pixels of a row times one vector of channels. For each row of taps,
// the vectors of all input pixels that the tile needs are loaded once; each is used for up to
// kernel / stride taps. Tiles move down the image, so that their rows of X are still in the
// first-level cache when the next row needs them. In nhwc, a range of channels moves down together.

#include "operators/conv/depthwise_conv.h"

#include <algorithm>

#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

// Tiles of the same columns in consecutive rows of Y whose windows have the same taps inside X.
struct TileColumn {
  const float* x;       // column 0 of the first row of X under valid taps
  const float* filter;  // the first valid tap
  const float* bias;    // null: zero
  float* y;             // column 0
  int64_t tap_step;     // between rows of X under consecutive taps
  int64_t x_step;       // between rows of X under consecutive rows of Y
  int64_t y_step;
  int64_t pixel;     // between pixels, in X and in Y
  int64_t tap;       // between taps of the filter
  int64_t tap_rows;  // rows of taps inside X
  int64_t rows;      // of Y
  int64_t first;     // pixel of the tile in a row of Y
  int64_t from, to;  // lanes
  const WindowAxis* columns;
  float lowest, highest;
};

// The columns that a tile reads and that lie outside X count as zeros.
enum Outside {
  kNoColumn = 0,
  kFirstColumn = 1,
  kLastColumn = 2,
  kBothColumns = 3,  // the first and the last one
  kAnyColumns = 4,   // found at run time
};

// The filter of one vector of channels. With kRows above 0 it stays in registers.
template <class L, int kRows, int kKernel>
struct TileFilter {
  typename L::Vector taps[kRows > 0 ? kRows* kKernel : 1];
  [[gnu::always_inline]] void Load(const float* filter, int64_t tap) {
    CAFFE2RT_UNROLL
    for (int k = 0; k < kRows * kKernel; ++k) taps[k] = L::At(filter + k * tap).lanes;
  }
};

// One tile with its channels at lane `c`; x and y are those of its row. kRows is the number of rows
// of taps, or 0 if it is only known at run time; the filter is then read from memory.
template <class L, int kKernel, int kStride, int kPixels, int kOutside, int kRows>
[[gnu::always_inline]] inline void RunTile(const TileColumn& task, const float* x, int64_t c,
                                           const TileFilter<L, kRows, kKernel>& loaded, float* y) {
  using Vector = typename L::Vector;
  constexpr int kColumns = (kPixels - 1) * kStride + kKernel;
  constexpr int kBegin = kOutside == kFirstColumn || kOutside == kBothColumns ? 1 : 0;
  constexpr int kEnd =
      kOutside == kLastColumn || kOutside == kBothColumns ? kColumns - 1 : kColumns;
  const int64_t pixel = task.pixel, tap = task.tap, width = task.columns->in;
  const int64_t column = task.first * kStride - task.columns->pad_head;
  Vector sum[kPixels];
  const Vector bias = task.bias == nullptr ? Vector{} : L::At(task.bias + c).lanes;
  CAFFE2RT_UNROLL
  for (int t = 0; t < kPixels; ++t) sum[t] = bias;
  const float* from = x + column * pixel + c;
  const float* filter = task.filter + c;
  const auto add_row = [&](int r) __attribute__((always_inline)) {
    Vector in[kColumns], factor[kKernel];
    CAFFE2RT_UNROLL
    for (int k = 0; k < kKernel; ++k) {
      factor[k] =
          kRows > 0 ? loaded.taps[kRows > 0 ? r * kKernel + k : 0] : L::At(filter + k * tap).lanes;
    }
    CAFFE2RT_UNROLL
    for (int j = kBegin; j < kEnd; ++j) {
      const bool inside = kOutside != kAnyColumns || (column + j >= 0 && column + j < width);
      in[j] = inside ? L::At(from + j * pixel).lanes : Vector{};
    }
    CAFFE2RT_UNROLL
    for (int k = 0; k < kKernel; ++k) {
      CAFFE2RT_UNROLL
      for (int t = 0; t < kPixels; ++t) {
        const int j = t * kStride + k;
        if (j >= kBegin && j < kEnd) sum[t] += in[j] * factor[k];
      }
    }
    from += task.tap_step;
    filter += kKernel * tap;
  };
  if constexpr (kRows > 0) {
    CAFFE2RT_UNROLL
    for (int r = 0; r < kRows; ++r) add_row(r);
  } else {
    for (int64_t r = 0; r < task.tap_rows; ++r) add_row(0);
  }
  const Vector lowest = Vector{} + task.lowest, highest = Vector{} + task.highest;
  float* const to = y + task.first * pixel + c;
  CAFFE2RT_UNROLL
  for (int t = 0; t < kPixels; ++t) {
    sum[t] = sum[t] < lowest ? lowest : sum[t];
    sum[t] = sum[t] > highest ? highest : sum[t];
    L::At(to + t * pixel).lanes = sum[t];
  }
}

// All tiles of a column. kOne: there is one vector of channels, and windows have kKernel rows.
template <class L, int kKernel, int kStride, int kPixels, int kOutside, bool kOne>
[[gnu::always_inline]] inline void RunColumn(const TileColumn& task) {
  constexpr int kRows = kOne && kKernel == 3 ? kKernel : 0;
  const float* x = task.x;
  float* y = task.y;
  TileFilter<L, kRows, kKernel> filter;
  filter.Load(task.filter + task.from, task.tap);
  for (int64_t r = 0; r < task.rows; ++r, x += task.x_step, y += task.y_step) {
    int64_t c = task.from;
    do {
      c = std::min(c, task.to - L::kWidth);  // the last vector may overlap
      RunTile<L, kKernel, kStride, kPixels, kOutside, kRows>(task, x, c, filter, y);
      c += L::kWidth;
    } while (!kOne && c < task.to);
  }
}

// One pixel with any kernel, stride and dilation.
template <class L>
[[gnu::always_inline]] inline void RunPixel(const TileColumn& task, const float* x, int64_t c,
                                            float* y) {
  using Vector = typename L::Vector;
  const WindowAxis& columns = *task.columns;
  const int64_t start = task.first * columns.stride - columns.pad_head;
  Vector sum = task.bias == nullptr ? Vector{} : L::At(task.bias + c).lanes;
  for (int64_t r = 0; r < task.tap_rows; ++r) {
    const float* const row = x + r * task.tap_step + c;
    const float* const filter = task.filter + r * columns.kernel * task.tap + c;
    for (int64_t k = 0; k < columns.kernel; ++k) {
      const int64_t column = start + k * columns.dilation;
      if (column < 0 || column >= columns.in) continue;
      sum += L::At(row + column * task.pixel).lanes * L::At(filter + k * task.tap).lanes;
    }
  }
  const Vector lowest = Vector{} + task.lowest, highest = Vector{} + task.highest;
  sum = sum < lowest ? lowest : sum;
  sum = sum > highest ? highest : sum;
  L::At(y + task.first * task.pixel + c).lanes = sum;
}

template <class L>
[[gnu::always_inline]] inline void RunPixels(const TileColumn& task) {
  for (int64_t r = 0; r < task.rows; ++r) {
    int64_t c = task.from;
    do {
      c = std::min(c, task.to - L::kWidth);
      RunPixel<L>(task, task.x + r * task.x_step, c, task.y + r * task.y_step);
      c += L::kWidth;
    } while (c < task.to);
  }
}

// The instruction sets: functions for columns of tiles, which are not inlined into their callers,
// and the number of pixels of a wide tile. The widths of images in many nets are multiples of 7. A
// few lanes are computed with the same instruction set as many, because not all sets multiply and
// add with one rounding, and results do not depend on the division into parts.
#define CAFFE2RT_DEPTHWISE_ISA(Name, LanesType, target, wide)                     \
  struct Name {                                                                   \
    using L = LanesType;                                                          \
    static constexpr int kWide = wide;                                            \
    template <int kKernel, int kStride, int kPixels, int kOutside, bool kOne>     \
    target __attribute__((noinline)) static void Column(const TileColumn& task) { \
      RunColumn<L, kKernel, kStride, kPixels, kOutside, kOne>(task);              \
    }                                                                             \
    template <class Lanes> /* of at most L::kWidth */                             \
    target __attribute__((noinline)) static void Pixels(const TileColumn& task) { \
      RunPixels<Lanes>(task);                                                     \
    }                                                                             \
  }
CAFFE2RT_DEPTHWISE_ISA(Avx512Depthwise, Avx512Lanes, CAFFE2RT_TARGET_AVX512, 7);
CAFFE2RT_DEPTHWISE_ISA(Avx2Depthwise, Avx2Lanes, CAFFE2RT_TARGET_AVX2, 4);
CAFFE2RT_DEPTHWISE_ISA(PlainDepthwise, PlainLanes, , 4);
#undef CAFFE2RT_DEPTHWISE_ISA

constexpr int kNarrow = 4;  // pixels of a narrow tile

template <class Isa, int kKernel, int kStride, bool kOne>
void RunWide(const TileColumn& task, int64_t before, int64_t after) {
  constexpr int kWide = Isa::kWide;
  if (before <= 0 && after <= 0) {
    Isa::template Column<kKernel, kStride, kWide, kNoColumn, kOne>(task);
  } else if (kKernel == 3 && before == 1 && after <= 0) {
    Isa::template Column<kKernel, kStride, kWide, kFirstColumn, kOne>(task);
  } else if (kKernel == 3 && before <= 0 && after == 1) {
    Isa::template Column<kKernel, kStride, kWide, kLastColumn, kOne>(task);
  } else if (kKernel == 3 && before == 1 && after == 1) {
    Isa::template Column<kKernel, kStride, kWide, kBothColumns, kOne>(task);
  } else {
    Isa::template Column<kKernel, kStride, kWide, kAnyColumns, kOne>(task);
  }
}

// The rows of Y that the task describes, all columns.
template <class Isa, int kKernel, int kStride, bool kOne>
void RunRows(TileColumn task) {
  constexpr int kWide = Isa::kWide;
  const WindowAxis& columns = *task.columns;
  const int64_t out = columns.out, pad = columns.pad_head;
  const auto padded = [out](int64_t tile) { return (out + tile - 1) / tile * tile; };
  // The last tile may overlap the one before.
  if (out >= kWide && padded(kWide) <= padded(kNarrow)) {
    constexpr int kColumns = (kWide - 1) * kStride + kKernel;
    for (int64_t i = 0; i < out; i += kWide) {
      task.first = std::min(i, out - kWide);
      const int64_t column = task.first * kStride - pad;
      RunWide<Isa, kKernel, kStride, kOne>(task, -column, column + kColumns - columns.in);
    }
  } else if (out >= kNarrow) {
    constexpr int kColumns = (kNarrow - 1) * kStride + kKernel;
    for (int64_t i = 0; i < out; i += kNarrow) {
      task.first = std::min(i, out - kNarrow);
      const int64_t column = task.first * kStride - pad;
      if (column >= 0 && column + kColumns <= columns.in) {
        Isa::template Column<kKernel, kStride, kNarrow, kNoColumn, kOne>(task);
      } else {
        Isa::template Column<kKernel, kStride, kNarrow, kAnyColumns, kOne>(task);
      }
    }
  } else {
    for (task.first = 0; task.first < out; ++task.first) {
      Isa::template Column<kKernel, kStride, 1, kAnyColumns, false>(task);
    }
  }
}

// kKernel is 0 for kernels without tiles.
template <class Isa, int kKernel, int kStride>
void RunLanes(TileColumn task) {
  const int64_t lanes = task.to - task.from;
  if constexpr (kKernel > 0) {
    if (lanes >= Isa::L::kWidth) {
      if (lanes == Isa::L::kWidth && task.tap_rows == kKernel) {
        RunRows<Isa, kKernel, kStride, true>(task);
      } else {
        RunRows<Isa, kKernel, kStride, false>(task);
      }
      return;
    }
  }
  for (task.first = 0; task.first < task.columns->out; ++task.first) {
    if (lanes >= Isa::L::kWidth) {
      Isa::template Pixels<typename Isa::L>(task);
    } else if (lanes >= PlainLanes::kWidth) {
      Isa::template Pixels<PlainLanes>(task);
    } else {
      Isa::template Pixels<OneLane>(task);
    }
  }
}

// The taps [first, last) of the windows of row `i` that lie inside X.
struct TapRange {
  int64_t first, last;
  bool operator==(const TapRange&) const = default;
};
TapRange TapsOfRow(const WindowAxis& rows, int64_t i) {
  const int64_t start = i * rows.stride - rows.pad_head;
  const int64_t first = start >= 0 ? 0 : (-start + rows.dilation - 1) / rows.dilation;
  const int64_t last =
      start >= rows.in ? 0 : std::min(rows.kernel, (rows.in - 1 - start) / rows.dilation + 1);
  return {first, std::max(first, last)};
}

// Rows [row, last) of one plane; `bias` and `prepared` are those of the plane.
template <class Isa, int kKernel, int kStride>
void RunPlane(const DepthwiseConv& conv, const float* x, const float* prepared, const float* bias,
              float* y, int64_t row, int64_t last, const PlanesPart& part) {
  constexpr int64_t kCacheFloats = 6144;  // half of a first-level cache
  const WindowAxis& rows = conv.rows;
  const int64_t lanes = conv.x.lanes(), padded = conv.x.padded_channels();
  const int64_t in_row = conv.columns.in * lanes, out_row = conv.columns.out * lanes;
  const int64_t tile = rows.extent() * (Isa::kWide * conv.columns.stride + conv.columns.kernel);
  const int64_t range = std::max<int64_t>(kCacheFloats / tile / kChannelBlock, 2) * kChannelBlock;
  while (row < last) {
    const TapRange taps = TapsOfRow(rows, row);
    int64_t end = row + 1;  // of the rows with the same taps
    while (end < last && TapsOfRow(rows, end) == taps) ++end;
    const int64_t start = row * rows.stride - rows.pad_head + taps.first * rows.dilation;
    TileColumn task{.x = x + start * in_row,
                    .filter = prepared + taps.first * conv.columns.kernel * padded,
                    .bias = bias,
                    .y = y + row * out_row,
                    .tap_step = rows.dilation * in_row,
                    .x_step = rows.stride * in_row,
                    .y_step = out_row,
                    .pixel = lanes,
                    .tap = padded,
                    .tap_rows = taps.last - taps.first,
                    .rows = end - row,
                    .first = 0,
                    .from = 0,
                    .to = 0,
                    .columns = &conv.columns,
                    .lowest = conv.lowest,
                    .highest = conv.highest};
    for (int64_t from = part.first_lane; from < part.last_lane; from = task.to) {
      const bool is_last = part.last_lane - from < range + kChannelBlock;
      task.from = from;
      task.to = is_last ? part.last_lane : from + range;  // not less than a vector after it
      RunLanes<Isa, kKernel, kStride>(task);
    }
    row = end;
  }
}

template <class Isa, int kKernel, int kStride>
void RunPart(const DepthwiseConv& conv, const float* x, const float* prepared, const float* bias,
             float* y, const PlanesPart& part) {
  const int64_t height = conv.rows.out, blocks = conv.x.blocks(), channels = conv.x.channels;
  const int64_t x_plane = conv.x.plane_size(), y_plane = conv.y().plane_size();
  float rest[kChannelBlock] = {};  // the bias of a partial last block
  if (bias != nullptr && channels % kChannelBlock != 0 && conv.x.blocked) {
    const int64_t last = (blocks - 1) * kChannelBlock;
    for (int64_t c = last; c < channels; ++c) rest[c - last] = bias[c];
  }
  for (int64_t row = part.first_row, end = 0; row < part.last_row; row = end) {
    const int64_t plane = row / height, first = plane * height, block = plane % blocks;
    end = std::min(part.last_row, first + height);
    const float* plane_bias = bias;
    if (bias != nullptr && conv.x.blocked) {
      const bool partial = (block + 1) * kChannelBlock > channels;
      plane_bias = partial ? rest : bias + block * kChannelBlock;
    }
    RunPlane<Isa, kKernel, kStride>(conv, x + plane * x_plane, prepared + block * kChannelBlock,
                                    plane_bias, y + plane * y_plane, row - first, end - first,
                                    part);
  }
}

using PartFunction = void(const DepthwiseConv&, const float*, const float*, const float*, float*,
                          const PlanesPart&);

template <int kKernel, int kStride>
PartFunction* Pick() {
  return PickByIsa<PartFunction>(RunPart<Avx512Depthwise, kKernel, kStride>,
                                 RunPart<Avx2Depthwise, kKernel, kStride>,
                                 RunPart<PlainDepthwise, kKernel, kStride>);
}

PartFunction* FunctionFor(const DepthwiseConv& conv) {
  const WindowAxis &rows = conv.rows, &columns = conv.columns;
  const int64_t stride = columns.stride, kernel = columns.kernel;
  const bool tiles = rows.kernel == kernel && columns.dilation == 1;
  if (tiles && kernel == 3 && stride == 1) return Pick<3, 1>();
  if (tiles && kernel == 3 && stride == 2) return Pick<3, 2>();
  if (tiles && kernel == 5 && stride == 1) return Pick<5, 1>();
  if (tiles && kernel == 5 && stride == 2) return Pick<5, 2>();
  return Pick<0, 0>();
}

}  // namespace

int64_t PreparedDepthwiseSize(const DepthwiseConv& conv) {
  return conv.taps() * conv.x.padded_channels();
}

void PrepareDepthwiseFilter(const DepthwiseConv& conv, const float* filter, float* prepared) {
  const int64_t padded = conv.x.padded_channels(), taps = conv.taps();
  std::fill_n(prepared, taps * padded, 0.0f);
  for (int64_t c = 0; c < conv.x.channels; ++c) {
    for (int64_t t = 0; t < taps; ++t) prepared[t * padded + c] = filter[c * taps + t];
  }
}

void RunDepthwise(const DepthwiseConv& conv, const float* x, const float* prepared,
                  const float* bias, float* y, const PlanesPart& part) {
  if (part.first_lane >= part.last_lane) return;
  FunctionFor(conv)(conv, x, prepared, bias, y, part);
}

void RunDepthwise(const DepthwiseConv& conv, const float* x, const float* prepared,
                  const float* bias, float* y) {
  ForEachPlanesPart(conv.y(), conv.taps(), [&](const PlanesPart& part) {
    RunDepthwise(conv, x, prepared, bias, y, part);
  });
}

}  // namespace caffe2rt
