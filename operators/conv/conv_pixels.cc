// Built-in convolution kernel for NCHW: a vector holds 16 neighbouring pixels of an output row, and
// a tile is a few output channels times a few vectors. Its sums stay in registers, and each loaded
// pixel vector is used for all channels of the tile. Results are written in the layout of Y, so
// nothing is reordered, and channel counts may be arbitrary. A depthwise convolution uses tiles of
// one channel.
#include <algorithm>
#include <utility>

#include "operators/conv/strip_conv.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

constexpr int kMaxTileChannels = 6;
constexpr int kMaxTileVectors = 4;

struct Tile {
  const float* x;          // the first pixel at tap 0, channel 0
  int64_t channel_stride;  // between input channels
  int64_t channels;
  const int64_t* taps;  // offset of each tap
  int64_t tap_count;
  const float* weights;  // [channels][taps][tile channels]
  const float* bias;     // [tile channels]
  float* y;
  int64_t y_stride;    // between output channels
  int64_t last;        // offset of the last vector
  int64_t last_count;  // number of its pixels to store
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
// The largest tile that fits into the registers of an instruction set, and the tile functions at
// [channels - 1][vectors - 1].
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

const Tiles& TilesOfCpu() { return *PickByIsa(&kAvx512Tiles, &kAvx2Tiles, &kPlainTiles); }

class PixelsConv final : public StripConv {
 public:
  PixelsConv(const ConvShape& shape, const ImageAxes& axes)
      : StripConv(shape, axes, NeedsNoCopy(axes), axes.columns.stride),
        tiles_(TilesOfCpu()),
        zero_bias_(kMaxTileChannels, 0.f) {
    const int64_t parts = (shape.out_group() + tiles_.channels - 1) / tiles_.channels;
    for (int64_t part = 0; part <= parts; ++part) {
      cuts_.push_back(part * shape.out_group() / parts);
    }
  }

  std::string FilterForm() const override {
    return MakeString("conv_pixels ", shape_.group, "x", shape_.out_group(), "x", shape_.in_group(),
                      "x", taps_.size(), " in tiles of ", tiles_.channels);
  }

  int64_t PreparedSize() const override { return shape_.out_channels * depth(); }

  // Layout: [group][tile][in channel][tap][channel of the tile].
  void PrepareFilterIn(const float* filter, float* to) override {
    const int64_t depth = this->depth();
    for (int64_t g = 0; g < shape_.group; ++g) {
      for (size_t part = 0; part + 1 < cuts_.size(); ++part) {
        for (int64_t i = 0; i < depth; ++i) {
          for (int64_t m = cuts_[part]; m < cuts_[part + 1]; ++m) {
            *to++ = filter[(g * shape_.out_group() + m) * depth + i];
          }
        }
      }
    }
  }

 private:
  // Rows are read in place if no window reaches outside the image and no vector load passes the end
  // of a row.
  static bool NeedsNoCopy(const ImageAxes& axes) {
    const WindowAxis &r = axes.rows, &c = axes.columns;
    return c.stride == 1 && c.out >= kLanes && r.pad_head == 0 && c.pad_head == 0 &&
           (r.out - 1) * r.stride + r.extent() <= r.in && c.out - 1 + c.extent() <= c.in;
  }

  void RunStrip(const ConvStrip& strip, const float* filter, const float* bias) const override {
    for (int64_t row = 0; row < strip.rows; ++row) {
      RunRow(strip.x + row * axes_.rows.stride * strip.row_stride, strip.channel_stride, filter,
             bias, strip.y + row * axes_.columns.out);
    }
  }

  void RunRow(const float* x, int64_t channel_stride, const float* filter, const float* bias,
              float* y) const {
    const int64_t width = axes_.columns.out, plane = axes_.rows.out * width;
    const int64_t depth = this->depth();
    const int64_t vectors = (width + kLanes - 1) / kLanes;
    for (int64_t first = 0; first < vectors; first += tiles_.vectors) {
      const int64_t count = std::min<int64_t>(tiles_.vectors, vectors - first);
      const int64_t start = first * kLanes;
      Tile tile;
      tile.channel_stride = channel_stride;
      tile.channels = shape_.in_group();
      tile.taps = taps_.data();
      tile.tap_count = tap_count();
      tile.y_stride = plane;
      // The last vector ends at the end of the row; it may recompute pixels of the vector before
      // it.
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

  const Tiles& tiles_;
  const std::vector<float> zero_bias_;
  std::vector<int64_t> cuts_;  // first output channel of each tile in a group, then the end
};

}  // namespace

std::unique_ptr<ConvKernel> NewPixelsConv(const ConvShape& shape) {
  ImageAxes axes;
  if (shape.channels_last() || !AsImage(shape, &axes)) return nullptr;
  if (shape.IsPointwise()) {
    // The image is treated as one long row.
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
