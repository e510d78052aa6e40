#include "operators/conv/byte_depthwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "operators/conv/int8_filter.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr int kMostTaps = 5;  // of a row

// A vector of channels. The last one may overlap the one before it.
struct ByteChunk {
  int64_t first, lanes;
};

// The chunk that contains channel `c` and those after it.
ByteChunk ChunkFrom(int64_t c, int64_t channels) {
  int64_t lanes = ByteTileLanes();
  while (lanes > 16 && (lanes / 2 >= channels - c || lanes > channels)) lanes /= 2;
  return {std::min(c, channels - lanes), lanes};
}

template <class Function>
void ForEachChunk(int64_t channels, const Function& function) {
  for (int64_t c = 0; c < channels;) {
    const ByteChunk chunk = ChunkFrom(c, channels);
    function(chunk);
    c = chunk.first + chunk.lanes;
  }
}

int PixelsOfTile(const ByteDepthwise& conv) {
  return conv.columns.stride == 1 && conv.columns.out >= 2 ? 2 : 1;
}

int KernelOf(const ByteDepthwise& conv) { return static_cast<int>(conv.rows.kernel); }
int StrideOf(const ByteDepthwise& conv) { return static_cast<int>(conv.rows.stride); }

// The bytes of the filter for each channel of a chunk.
int64_t WeightsOfLane(const ByteDepthwise& conv) {
  const int kernel = KernelOf(conv), stride = StrideOf(conv), pixels = PixelsOfTile(conv);
  int64_t count = 0;
  for (int g = 0; g < ByteTileGroups(kernel, stride, pixels); ++g) {
    for (int p = 0; p < pixels; ++p) count += ByteTileUses(kernel, stride, g, p) ? 4 : 0;
  }
  return count * kernel;
}

int64_t LanesOfChunks(int64_t channels) {
  int64_t lanes = 0;
  ForEachChunk(channels, [&](const ByteChunk& chunk) { lanes += chunk.lanes; });
  return lanes;
}

// The prepared filter: the weights of all chunks, a zero point for each channel, which padding reads, and
// for each channel its scale and the sum of its bytes.
struct PreparedBytes {
  explicit PreparedBytes(const ByteDepthwise& conv)
      : weights(LanesOfChunks(conv.channels) * WeightsOfLane(conv)),
        padding((conv.channels + 3) / 4 * 4),
        channels(conv.channels) {}
  int64_t weights, padding, channels;

  int64_t size() const {
    return weights + padding + 2 * channels * static_cast<int64_t>(sizeof(float));
  }
  template <class Bytes>
  auto* scales(Bytes* prepared) const {
    using Float = std::conditional_t<std::is_const_v<Bytes>, const float, float>;
    return reinterpret_cast<Float*>(prepared + weights + padding);
  }
};

// The weights of one chunk in the order of ByteTiles. `bytes` is [channels][taps].
int8_t* WriteChunk(const ByteDepthwise& conv, const ByteChunk& chunk, const int8_t* bytes,
                   int8_t* to) {
  const int kernel = KernelOf(conv), stride = StrideOf(conv), pixels = PixelsOfTile(conv);
  for (int r = 0; r < kernel; ++r) {
    for (int g = 0; g < ByteTileGroups(kernel, stride, pixels); ++g) {
      for (int p = 0; p < pixels; ++p) {
        if (!ByteTileUses(kernel, stride, g, p)) continue;
        for (int64_t i = 0; i < chunk.lanes; ++i) {  // 32-bit numbers of the four vectors
          const int64_t vector = i / (chunk.lanes / 4), element = i % (chunk.lanes / 4);
          const int64_t channel = chunk.first + ByteTileChannel(vector, element);
          for (int j = 0; j < 4; ++j) {
            const int tap = 4 * g + j - p * stride;
            const bool inside = tap >= 0 && tap < kernel;
            *to++ = inside ? bytes[(channel * kernel + r) * kernel + tap] : int8_t{0};
          }
        }
      }
    }
  }
  return to;
}

// A row of Y while its tiles are computed.
class RowOfTiles {
 public:
  RowOfTiles(const ByteDepthwise& conv, const void* prepared, const float* scales)
      : conv_(conv),
        weights_(static_cast<const int8_t*>(prepared)),
        padding_(static_cast<const uint8_t*>(prepared) + PreparedBytes(conv).weights),
        scales_(scales),
        element_(conv.result == ByteResult::kFloats      ? 4
                 : conv.result == ByteResult::kBfloat16s ? 2
                                                         : 1),
        pixels_(PixelsOfTile(conv)),
        span_(ByteTileColumns(KernelOf(conv), StrideOf(conv), pixels_)) {
    for (const int64_t lanes : {64, 32, 16}) {
      const size_t i = IndexOf(lanes);
      if (lanes > ByteTileLanes()) continue;
      run_[i] =
          FindByteTiles(lanes, conv.rows.kernel, conv.rows.stride, pixels_, conv.result, false);
      border_[i] =
          FindByteTiles(lanes, conv.rows.kernel, conv.rows.stride, pixels_, conv.result, true);
    }
    const float scale = conv.result == ByteResult::kBytes ? conv.y.scale : 1;
    lowest_ = conv.lowest / scale;
    highest_ = conv.highest / scale;
    if (conv.result == ByteResult::kBytes) {  // so that rounding does not overflow
      lowest_ = std::clamp(lowest_, -kMost, kMost);
      highest_ = std::clamp(highest_, -kMost, kMost);
    }
  }

  // `image` is of X; `y` the first pixel of row `row` of Y.
  void Run(const uint8_t* image, int64_t row, char* y) {
    const int64_t channels = conv_.channels, width = conv_.columns.in;
    for (int r = 0; r < KernelOf(conv_); ++r) {
      const int64_t from = row * conv_.rows.stride - conv_.rows.pad_head + r;
      const bool inside = from >= 0 && from < conv_.rows.in;
      rows_[static_cast<size_t>(r)] = inside ? image + from * width * channels : padding_;
      steps_[static_cast<size_t>(r)] = inside ? channels : 0;
    }
    const int64_t out = conv_.columns.out, stride = conv_.columns.stride;
    for (int64_t first = 0; first < out;) {
      int64_t tiles = 0;
      while (first + (tiles + 1) * pixels_ <= out && IsInside((first + tiles * pixels_) * stride)) {
        ++tiles;
      }
      if (tiles > 0) {
        RunInside(first, tiles, y);
        first += tiles * pixels_;
      } else {
        RunBorder(std::min(first, out - pixels_), y);
        first += pixels_;
      }
    }
  }

 private:
  static constexpr float kMost = 1e6f;
  static size_t IndexOf(int64_t lanes) { return static_cast<size_t>(lanes / 32); }

  bool IsInside(int64_t column) const {
    const int64_t begin = column - conv_.columns.pad_head;
    return begin >= 0 && begin + span_ <= conv_.columns.in;
  }

  template <class Function>
  void RunChunks(ByteTiles tiles, int64_t first, char* y, const Function& function) const {
    const int8_t* weights = weights_;
    const float* scales = scales_;
    const int64_t of_lane = WeightsOfLane(conv_);
    tiles.lowest = lowest_;
    tiles.highest = highest_;
    tiles.zero_point = conv_.y.zero_point;
    tiles.y_pixel = conv_.channels * element_;
    ForEachChunk(conv_.channels, [&](const ByteChunk& chunk) {
      tiles.channel = chunk.first;
      tiles.weights = weights;
      tiles.factors = scales;
      tiles.offsets = scales + chunk.lanes;
      tiles.y = y + (first * conv_.channels + chunk.first) * element_;
      function(IndexOf(chunk.lanes), tiles);
      weights += chunk.lanes * of_lane;
      scales += 2 * chunk.lanes;
    });
  }

  void RunInside(int64_t first, int64_t count, char* y) const {
    std::array<const uint8_t*, kMostTaps> columns;
    const int64_t column = first * conv_.columns.stride - conv_.columns.pad_head;
    for (size_t r = 0; r < static_cast<size_t>(KernelOf(conv_)); ++r) {
      columns[r] = rows_[r] + column * steps_[r];
    }
    const ByteTiles tiles{.columns = columns.data(), .steps = steps_.data(), .count = count};
    RunChunks(tiles, first, y, [&](size_t i, const ByteTiles& of) { run_[i](of); });
  }

  void RunBorder(int64_t first, char* y) const {
    std::array<const uint8_t*, kMostTaps*(kMostTaps + 1)> columns;
    const int64_t begin = first * conv_.columns.stride - conv_.columns.pad_head;
    for (int r = 0; r < KernelOf(conv_); ++r) {
      for (int64_t j = 0; j < span_; ++j) {
        const int64_t column = begin + j;
        const bool inside = column >= 0 && column < conv_.columns.in;
        const size_t row = static_cast<size_t>(r);
        columns[static_cast<size_t>(r * span_ + j)] =
            inside ? rows_[row] + column * steps_[row] : padding_;
      }
    }
    const ByteTiles tiles{.columns = columns.data(), .steps = nullptr, .count = 1};
    RunChunks(tiles, first, y, [&](size_t i, const ByteTiles& of) { border_[i](of); });
  }

  const ByteDepthwise& conv_;
  const int8_t* const weights_;
  const uint8_t* const padding_;
  const float* const scales_;
  const int64_t element_;  // bytes of Y
  const int pixels_;       // of a tile
  const int64_t span_;     // columns that a tile reads
  std::array<RunByteTiles*, 3> run_{}, border_{};
  float lowest_ = 0, highest_ = 0;
  std::array<const uint8_t*, kMostTaps> rows_{};
  std::array<int64_t, kMostTaps> steps_{};
};

}  // namespace

bool ByteTilesCover(int64_t channels, const WindowAxis& rows, const WindowAxis& columns) {
  return channels >= 16 && rows.kernel == columns.kernel &&
         (rows.kernel == 3 || rows.kernel == 5) && rows.stride == columns.stride &&
         rows.stride <= 2 && rows.dilation == 1 && columns.dilation == 1;
}

bool ByteDepthwiseFits(const ByteDepthwise& conv) {
  return ByteTileLanes() > 0 && ByteTilesCover(conv.channels, conv.rows, conv.columns);
}

int64_t ByteDepthwiseFilterBytes(const ByteDepthwise& conv) { return PreparedBytes(conv).size(); }

int64_t ByteDepthwiseScales(const ByteDepthwise& conv) { return 2 * LanesOfChunks(conv.channels); }

void PrepareByteDepthwise(const ByteDepthwise& conv, const float* filter, void* prepared) {
  const PreparedBytes parts(conv);
  const int64_t taps = conv.rows.kernel * conv.columns.kernel;
  std::vector<int8_t> bytes(static_cast<size_t>(conv.channels * taps));
  char* const form = static_cast<char*>(prepared);
  float* const scales = parts.scales(form);
  QuantizeFilter(
      {.out = conv.channels, .in = taps, .pair_limited = conv.pair_limited, .any_pair = true},
      filter, bytes.data(), scales, scales + conv.channels);
  int8_t* weights = static_cast<int8_t*>(prepared);
  ForEachChunk(conv.channels, [&](const ByteChunk& chunk) {
    weights = WriteChunk(conv, chunk, bytes.data(), weights);
  });
  std::memset(weights, conv.x.zero_point, static_cast<size_t>(parts.padding));
}

void ScaleByteDepthwise(const ByteDepthwise& conv, const void* prepared, const float* bias,
                        float* scales) {
  const float* const of_filter = PreparedBytes(conv).scales(static_cast<const char*>(prepared));
  const float* const sums = of_filter + conv.channels;
  const float of_y = conv.result == ByteResult::kBytes ? conv.y.scale : 1;
  const auto zero_point = static_cast<float>(conv.x.zero_point);
  ForEachChunk(conv.channels, [&](const ByteChunk& chunk) {
    for (int64_t i = 0; i < chunk.lanes; ++i) {
      const int64_t vector = i / (chunk.lanes / 4), element = i % (chunk.lanes / 4);
      const int64_t channel = chunk.first + ByteTileChannel(vector, element);
      const float factor = of_filter[channel] * conv.x.scale / of_y;
      scales[i] = factor;
      scales[chunk.lanes + i] =
          (bias == nullptr ? 0 : bias[channel] / of_y) - zero_point * sums[channel] * factor;
    }
    scales += 2 * chunk.lanes;
  });
}

void RunByteDepthwise(const ByteDepthwise& conv, const uint8_t* x, const void* prepared,
                      const float* scales, void* y) {
  const int64_t rows = conv.rows.out, width = conv.columns.out * conv.channels;
  if (width == 0) return;
  const int64_t element = conv.result == ByteResult::kFloats      ? 4
                          : conv.result == ByteResult::kBfloat16s ? 2
                                                                  : 1;
  const int64_t image = conv.rows.in * conv.columns.in * conv.channels;
  ParallelRanges(conv.batch * rows, width, [&](int64_t first, int64_t last) {
    RowOfTiles row(conv, prepared, scales);
    for (int64_t i = first; i < last; ++i) {
      row.Run(x + i / rows * image, i % rows, static_cast<char*>(y) + i * width * element);
    }
  });
}

}  // namespace caffe2rt
