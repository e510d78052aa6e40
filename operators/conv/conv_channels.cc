// Built-in convolution kernel for NCHW: a vector holds 16 output channels of one pixel, and a tile
// is one or two such vectors for each of a few arbitrary pixels. Its sums stay in registers. Meant
// for small images, whose rows are too short for vectors of pixels.
#include <algorithm>
#include <utility>

#include "operators/conv/strip_conv.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

constexpr int kMaxPixels = 8;

struct Tile {
  const float* x;
  int64_t channel_stride;
  int64_t channels;
  const int64_t* taps;
  int64_t tap_count;
  const int64_t* pixels;  // offsets of the tile's pixels
  const float* weights;   // [channels][taps][vectors * 16]
  const float* bias;      // [vectors * 16]
  float* result;          // [pixels][vectors * 16]
};

template <class L, int kVectors, int kPixels>
[[gnu::always_inline]] inline void RunTile(const Tile& tile) {
  using Vector = typename L::Vector;
  constexpr int kParts = kVectors * L::kParts;
  Vector sum[kParts][kPixels];
  int64_t offset[kPixels];
  for (int v = 0; v < kParts; ++v) {
    const Vector start = L::At(tile.bias + v * L::kWidth).lanes;
    for (int p = 0; p < kPixels; ++p) sum[v][p] = start;
  }
  for (int p = 0; p < kPixels; ++p) offset[p] = tile.pixels[p];
  const float* w = tile.weights;
  const float* x = tile.x;
  for (int64_t c = 0; c < tile.channels; ++c, x += tile.channel_stride) {
    for (int64_t t = 0; t < tile.tap_count; ++t, w += kVectors * kLanes) {
      const float* at = x + tile.taps[t];
      Vector weight[kParts];
      for (int v = 0; v < kParts; ++v) weight[v] = L::At(w + v * L::kWidth).lanes;
      for (int p = 0; p < kPixels; ++p) {
        const float value = at[offset[p]];
        for (int v = 0; v < kParts; ++v) sum[v][p] += weight[v] * value;
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    for (int v = 0; v < kParts; ++v) {
      L::At(tile.result + p * kVectors * kLanes + v * L::kWidth).lanes = sum[v][p];
    }
  }
}

template <int kVectors, int kPixels>
CAFFE2RT_TARGET_AVX512 void TileAvx512(const Tile& tile) {
  RunTile<Avx512Lanes, kVectors, kPixels>(tile);
}
template <int kVectors, int kPixels>
CAFFE2RT_TARGET_AVX2 void TileAvx2(const Tile& tile) {
  RunTile<Avx2Lanes, kVectors, kPixels>(tile);
}
template <int kVectors, int kPixels>
void TilePlain(const Tile& tile) {
  RunTile<PlainLanes, kVectors, kPixels>(tile);
}

using TileFunction = void (*)(const Tile&);
// The largest tile that fits into the registers of an instruction set, and the tile functions at
// [vectors - 1][pixels - 1].
struct Tiles {
  int vectors;
  int pixels;
  TileFunction run[2][kMaxPixels];
};
#define CAFFE2RT_TILE_ROW(v)                                                                  \
  {                                                                                           \
    TileAvx512<v, 1>, TileAvx512<v, 2>, TileAvx512<v, 3>, TileAvx512<v, 4>, TileAvx512<v, 5>, \
        TileAvx512<v, 6>, TileAvx512<v, 7>, TileAvx512<v, 8>                                  \
  }
constexpr Tiles kAvx512Tiles = {2, 8, {CAFFE2RT_TILE_ROW(1), CAFFE2RT_TILE_ROW(2)}};
#undef CAFFE2RT_TILE_ROW
constexpr Tiles kAvx2Tiles = {1,
                              6,
                              {{TileAvx2<1, 1>, TileAvx2<1, 2>, TileAvx2<1, 3>, TileAvx2<1, 4>,
                                TileAvx2<1, 5>, TileAvx2<1, 6>}}};
constexpr Tiles kPlainTiles = {1, 2, {{TilePlain<1, 1>, TilePlain<1, 2>}}};

const Tiles& TilesOfCpu() { return *PickByIsa(&kAvx512Tiles, &kAvx2Tiles, &kPlainTiles); }

class ChannelsConv final : public StripConv {
 public:
  ChannelsConv(const ConvShape& shape, const ImageAxes& axes)
      : StripConv(shape, axes, NeedsNoCopy(axes), 1),
        tiles_(TilesOfCpu()),
        blocks_((shape.out_group() + kLanes - 1) / kLanes) {
    for (int64_t row = 0; row < strip_rows(); ++row) {
      for (int64_t column = 0; column < axes.columns.out; ++column) {
        pixels_.push_back(row * axes.rows.stride * row_stride() + column * axes.columns.stride);
      }
    }
  }

  std::string FilterForm() const override {
    return MakeString("conv_channels ", shape_.group, "x", shape_.out_group(), "x",
                      shape_.in_group(), "x", taps_.size(), " in tiles of ", tiles_.vectors);
  }

  int64_t PreparedSize() const override { return shape_.group * blocks_ * kLanes * depth(); }

  // Layout: [group][tile][in channel][tap][16 or 32 channels], padded with zeros.
  void PrepareFilterIn(const float* filter, float* to) override {
    const int64_t depth = this->depth();
    for (int64_t g = 0; g < shape_.group; ++g) {
      for (int64_t block = 0; block < blocks_;) {
        const int64_t count = std::min<int64_t>(tiles_.vectors, blocks_ - block);
        for (int64_t i = 0; i < depth; ++i) {
          for (int64_t m = block * kLanes; m < (block + count) * kLanes; ++m) {
            *to++ = m < shape_.out_group() ? filter[(g * shape_.out_group() + m) * depth + i] : 0.f;
          }
        }
        block += count;
      }
    }
  }

 private:
  static bool NeedsNoCopy(const ImageAxes& axes) {
    const WindowAxis &r = axes.rows, &c = axes.columns;
    return r.pad_head == 0 && c.pad_head == 0 && (r.out - 1) * r.stride + r.extent() <= r.in &&
           (c.out - 1) * c.stride + c.extent() <= c.in;
  }

  void RunStrip(const ConvStrip& strip, const float* filter, const float* bias) const override {
    alignas(64) float result[kMaxPixels * 2 * kLanes];
    alignas(64) float padded_bias[2 * kLanes];
    const int64_t depth = this->depth();
    const int64_t pixels = strip.rows * axes_.columns.out;
    const int64_t plane = axes_.rows.out * axes_.columns.out;
    Tile tile;
    tile.channel_stride = strip.channel_stride;
    tile.channels = shape_.in_group();
    tile.taps = taps_.data();
    tile.tap_count = tap_count();
    tile.bias = padded_bias;
    tile.result = result;
    for (int64_t g = 0; g < shape_.group; ++g) {
      tile.x = strip.x + g * shape_.in_group() * strip.channel_stride;
      for (int64_t block = 0; block < blocks_; block += tiles_.vectors) {
        const int64_t vectors = std::min<int64_t>(tiles_.vectors, blocks_ - block);
        const int64_t first = g * shape_.out_group() + block * kLanes;
        const int64_t channels = std::min(vectors * kLanes, shape_.out_group() - block * kLanes);
        std::fill_n(padded_bias, 2 * kLanes, 0.f);
        if (bias != nullptr) std::copy_n(bias + first, channels, padded_bias);
        tile.weights = filter + (g * blocks_ + block) * kLanes * depth;
        for (int64_t p = 0; p < pixels; p += tiles_.pixels) {
          const int64_t count = std::min<int64_t>(tiles_.pixels, pixels - p);
          tile.pixels = pixels_.data() + p;
          tiles_.run[vectors - 1][count - 1](tile);
          for (int64_t m = 0; m < channels; ++m) {
            float* to = strip.y + (first + m) * plane + p;
            for (int64_t i = 0; i < count; ++i) to[i] = result[i * vectors * kLanes + m];
          }
        }
      }
    }
  }

  const Tiles& tiles_;
  const int64_t blocks_;         // blocks of 16 output channels in a group
  std::vector<int64_t> pixels_;  // offsets of the windows of a strip
};

}  // namespace

std::unique_ptr<ConvKernel> NewChannelsConv(const ConvShape& shape) {
  ImageAxes axes;
  if (shape.channels_last() || !AsImage(shape, &axes)) return nullptr;
  // Large images would need long lists of offsets; other algorithms are faster there.
  constexpr int64_t kMaxImageSize = 1 << 16;
  if (axes.rows.kernel > 1024 || axes.columns.kernel > 1024 || axes.rows.out > kMaxImageSize ||
      axes.columns.out > kMaxImageSize || axes.rows.kernel * axes.columns.kernel > 1024 ||
      axes.rows.out * axes.columns.out > kMaxImageSize) {
    return nullptr;
  }
  return std::make_unique<ChannelsConv>(shape, axes);
}

}  // namespace caffe2rt
