// Own convolution kernel for NCHW: one vector holds 16 neighbouring pixels of an output row, a tile
// is a few output channels times a few vectors. Results are written as they lie, so nothing is
// reordered; channel counts need not be multiples of anything. A depthwise convolution is a tile of
// one channel.
#include <algorithm>
#include <utility>

#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/conv_kernel.h"
#include "operators/conv/padded_rows.h"
#include "operators/math/isa.h"
#include "operators/math/scratch.h"

namespace caffe2rt {

namespace {

constexpr int64_t kStripBudget = 1 << 17;  // floats: half of a 1 MiB second-level cache
constexpr int kMaxTileChannels = 6;
constexpr int kMaxTileVectors = 4;

struct Tile {
  const float* x;          // of the first pixel, tap 0, channel 0
  int64_t channel_stride;  // between input channels
  int64_t channels;
  const int64_t* taps;  // offsets
  int64_t tap_count;
  const float* weights;  // [channels][taps][tile channels]
  const float* bias;     // [tile channels]
  float* y;
  int64_t y_stride;    // between output channels
  int64_t last;        // where the last vector starts
  int64_t last_count;  // pixels of it that are stored
};

template <class L, int kChannels, int kVectors>
[[gnu::always_inline]] inline void RunTile(const Tile& tile) {
  using Vector = typename L::Vector;
  constexpr int kParts = L::kParts;
  Vector sum[kChannels][kVectors * kParts];
  for (int m = 0; m < kChannels; ++m) {
    for (int v = 0; v < kVectors * kParts; ++v) sum[m][v] = Vector{} + tile.bias[m];
  }
  const float* w = tile.weights;
  const float* x = tile.x;
  const int64_t last = tile.last;
  for (int64_t c = 0; c < tile.channels; ++c, x += tile.channel_stride) {
    for (int64_t t = 0; t < tile.tap_count; ++t, w += kChannels) {
      const float* at = x + tile.taps[t];
      Vector pixels[kVectors * kParts];
      for (int v = 0; v < kVectors; ++v) {
        const float* from = at + (v == kVectors - 1 ? last : v * kLanes);
        for (int part = 0; part < kParts; ++part) {
          pixels[v * kParts + part] = L::At(from + part * L::kWidth).lanes;
        }
      }
      for (int m = 0; m < kChannels; ++m) {
        for (int v = 0; v < kVectors * kParts; ++v) sum[m][v] += pixels[v] * w[m];
      }
    }
  }
  for (int m = 0; m < kChannels; ++m) {
    float* y = tile.y + m * tile.y_stride;
    for (int v = 0; v < (kVectors - 1) * kParts; ++v) L::At(y + v * L::kWidth).lanes = sum[m][v];
    alignas(64) float rest[kLanes];
    float* to = tile.last_count == kLanes ? y + last : rest;
    for (int part = 0; part < kParts; ++part) {
      L::At(to + part * L::kWidth).lanes = sum[m][(kVectors - 1) * kParts + part];
    }
    if (to == rest) {
      for (int64_t i = 0; i < tile.last_count; ++i) y[last + i] = rest[i];
    }
  }
}

template <int kChannels, int kVectors>
CAFFE2RT_TARGET_AVX512 void TileAvx512(const Tile& tile) {
  RunTile<Avx512Lanes, kChannels, kVectors>(tile);
}
template <int kChannels, int kVectors>
CAFFE2RT_TARGET_AVX2 void TileAvx2(const Tile& tile) {
  RunTile<Avx2Lanes, kChannels, kVectors>(tile);
}
template <int kChannels, int kVectors>
void TilePlain(const Tile& tile) {
  RunTile<PlainLanes, kChannels, kVectors>(tile);
}

using TileFunction = void (*)(const Tile&);
// What fits into the registers of an instruction set, and the functions [channels - 1][vectors -
// 1].
struct Tiles {
  int channels;
  int vectors;
  TileFunction run[kMaxTileChannels][kMaxTileVectors];
};
#define CAFFE2RT_TILE_ROW(f, m) \
  { f<m, 1>, f<m, 2>, f<m, 3>, f<m, 4> }
constexpr Tiles kAvx512Tiles = {
    6,
    4,
    {CAFFE2RT_TILE_ROW(TileAvx512, 1), CAFFE2RT_TILE_ROW(TileAvx512, 2),
     CAFFE2RT_TILE_ROW(TileAvx512, 3), CAFFE2RT_TILE_ROW(TileAvx512, 4),
     CAFFE2RT_TILE_ROW(TileAvx512, 5), CAFFE2RT_TILE_ROW(TileAvx512, 6)}};
#undef CAFFE2RT_TILE_ROW
constexpr Tiles kAvx2Tiles = {3,
                              2,
                              {{TileAvx2<1, 1>, TileAvx2<1, 2>},
                               {TileAvx2<2, 1>, TileAvx2<2, 2>},
                               {TileAvx2<3, 1>, TileAvx2<3, 2>}}};
constexpr Tiles kPlainTiles = {2, 1, {{TilePlain<1, 1>}, {TilePlain<2, 1>}}};

const Tiles& TilesOfCpu() {
  switch (CpuIsa()) {
    case Isa::kAvx512:
      return kAvx512Tiles;
    case Isa::kAvx2:
      return kAvx2Tiles;
    default:
      return kPlainTiles;
  }
}

class PixelsConv final : public ConvKernel {
 public:
  PixelsConv(const ConvShape& shape, const PictureAxes& axes)
      : shape_(shape),
        axes_(axes),
        tiles_(TilesOfCpu()),
        direct_(NeedsNoCopy(axes)),
        rows_(axes, shape.window.channels, axes.columns.stride, kStripBudget),
        scratch_(static_cast<size_t>(GetNumThreads())) {
    const int64_t parts = (shape.out_group() + tiles_.channels - 1) / tiles_.channels;
    for (int64_t part = 0; part <= parts; ++part) {
      cuts_.push_back(part * shape.out_group() / parts);
    }
    for (int64_t i = 0; i < axes.rows.kernel; ++i) {
      for (int64_t j = 0; j < axes.columns.kernel; ++j) {
        taps_.push_back(direct_
                            ? i * axes.rows.dilation * axes.columns.in + j * axes.columns.dilation
                            : rows_.TapOffset(i, j));
      }
    }
    zero_bias_.assign(static_cast<size_t>(kMaxTileChannels), 0.f);
  }

  std::string FilterForm() const override {
    return MakeString("conv_pixels ", shape_.group, "x", shape_.out_group(), "x", shape_.in_group(),
                      "x", taps_.size(), " in tiles of ", tiles_.channels);
  }

  // [group][tile][in channel][tap][channel of the tile]
  std::shared_ptr<const void> PrepareFilter(const float* filter) const override {
    const int64_t taps = static_cast<int64_t>(taps_.size()), in_group = shape_.in_group();
    const int64_t depth = in_group * taps;
    std::shared_ptr<float> packed = NewFilterMemory(shape_.out_channels * depth);
    float* to = packed.get();
    for (int64_t g = 0; g < shape_.group; ++g) {
      for (size_t part = 0; part + 1 < cuts_.size(); ++part) {
        for (int64_t i = 0; i < depth; ++i) {
          for (int64_t m = cuts_[part]; m < cuts_[part + 1]; ++m) {
            *to++ = filter[(g * shape_.out_group() + m) * depth + i];
          }
        }
      }
    }
    return packed;
  }

  void Run(const float* x, const void* filter, const float* bias, float* y) override {
    const int64_t strips = direct_ ? 1 : rows_.strips();
    const int64_t jobs = shape_.window.batch * strips;
    const int pieces =
        static_cast<int>(std::min<int64_t>(jobs, static_cast<int64_t>(scratch_.size())));
    ParallelFor(pieces, [&](int piece) {
      for (int64_t job = jobs * piece / pieces; job < jobs * (piece + 1) / pieces; ++job) {
        const int64_t image = job / strips, strip = job % strips;
        const float* from = x + image * shape_.window.channels * axes_.rows.in * axes_.columns.in;
        float* to = y + image * shape_.out_channels * axes_.rows.out * axes_.columns.out;
        const int64_t first = direct_ ? 0 : strip * rows_.strip();
        const int64_t count =
            direct_ ? axes_.rows.out : std::min(rows_.strip(), axes_.rows.out - first);
        int64_t channel_stride = axes_.rows.in * axes_.columns.in, row_stride = axes_.columns.in;
        if (!direct_) {
          float* copy = scratch_[static_cast<size_t>(piece)].Floats(rows_.size());
          rows_.Copy(from, first, count, copy);
          from = copy;
          channel_stride = rows_.channel_size();
          row_stride = rows_.row_size();
        }
        for (int64_t row = 0; row < count; ++row) {
          RunRow(from + row * axes_.rows.stride * row_stride, channel_stride,
                 static_cast<const float*>(filter), bias, to + (first + row) * axes_.columns.out);
        }
      }
    });
  }

 private:
  // Rows can be read where they lie when no window leaves them and a vector never reads beyond the
  // last one.
  static bool NeedsNoCopy(const PictureAxes& axes) {
    const WindowAxis &r = axes.rows, &c = axes.columns;
    return c.stride == 1 && c.out >= kLanes && r.pad_head == 0 && c.pad_head == 0 &&
           (r.out - 1) * r.stride + r.extent() <= r.in && c.out - 1 + c.extent() <= c.in;
  }

  void RunRow(const float* x, int64_t channel_stride, const float* filter, const float* bias,
              float* y) const {
    const int64_t width = axes_.columns.out, plane = axes_.rows.out * width;
    const int64_t taps = static_cast<int64_t>(taps_.size()), depth = shape_.in_group() * taps;
    const int64_t vectors = (width + kLanes - 1) / kLanes;
    for (int64_t first = 0; first < vectors; first += tiles_.vectors) {
      const int64_t count = std::min<int64_t>(tiles_.vectors, vectors - first);
      const int64_t start = first * kLanes;
      Tile tile;
      tile.channel_stride = channel_stride;
      tile.channels = shape_.in_group();
      tile.taps = taps_.data();
      tile.tap_count = taps;
      tile.y_stride = plane;
      // The last vector of a row ends where the row ends, over pixels that are done already.
      tile.last =
          width < kLanes ? 0 : std::min((first + count - 1) * kLanes, width - kLanes) - start;
      tile.last_count = std::min<int64_t>(width, kLanes);
      for (int64_t g = 0; g < shape_.group; ++g) {
        tile.x = x + g * shape_.in_group() * channel_stride + start;
        for (size_t part = 0; part + 1 < cuts_.size(); ++part) {
          const int64_t m = g * shape_.out_group() + cuts_[part];
          tile.weights = filter + m * depth;
          tile.bias = bias != nullptr ? bias + m : zero_bias_.data();
          tile.y = y + m * plane + start;
          tiles_.run[cuts_[part + 1] - cuts_[part] - 1][count - 1](tile);
        }
      }
    }
  }

  const ConvShape shape_;
  const PictureAxes axes_;
  const Tiles& tiles_;
  const bool direct_;
  const PaddedRows rows_;
  std::vector<int64_t> cuts_;  // of the output channels of a group into tiles
  std::vector<int64_t> taps_;
  std::vector<float> zero_bias_;
  std::vector<ThreadScratch> scratch_;  // one a piece
};

}  // namespace

std::unique_ptr<ConvKernel> NewPixelsConv(const ConvShape& shape) {
  PictureAxes axes;
  if (shape.channels_last() || !AsPicture(shape, &axes)) return nullptr;
  if (shape.IsPointwise()) {
    // Rows do not matter: one long row.
    axes.columns.in = axes.columns.out = axes.rows.in * axes.columns.in;
    axes.rows = WindowAxis();
    axes.columns.pad_tail = 0;
  }
  if (axes.columns.stride > 8 || axes.rows.kernel > 1024 || axes.columns.kernel > 1024 ||
      axes.rows.kernel * axes.columns.kernel > 1024) {
    return nullptr;
  }
  return std::make_unique<PixelsConv>(shape, axes);
}

}  // namespace caffe2rt
