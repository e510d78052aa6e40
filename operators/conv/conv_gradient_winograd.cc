// The gradients of a convolution by the transposes of Winograd's algorithm (winograd_transforms.h). With
// D = A dY A^T of a tile of 4 x 4 results, and V = B^T d B of the 6 x 6 inputs that it is computed from:
//
//   dFilter = G^T [sum of D * V over all tiles] G
//   dX = sum of B [(G g G^T) * D] B^T over the tiles, which overlap
//
// where the products are elementwise in the 36 positions of a tile, and for each position a matrix
// multiplication: 36 multiplications for each pair of channels and tile, where the direct method needs
// 144.
//
// Images are copied with a border in blocks of 16 channels, so that all tiles are whole. Some images, or
// parts of one, are processed at a time, so that their transformed tiles stay in the second-level cache.
#include <algorithm>

#include "operators/conv/bordered_image.h"
#include "operators/conv/conv_gradient_kernel.h"
#include "operators/conv/winograd_transforms.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr int kTile = kWinogradTile, kInput = kWinogradInput, kPositions = kWinogradPositions;
constexpr int kTaps = kWinogradTaps * kWinogradTaps;
// The matrices of the positions begin one cache line after a multiple of their size, because addresses
// with a distance of 4 KiB use the same places in the first-level cache.
constexpr int64_t kGap = 16;
int64_t MatrixFloats(int64_t rows, int64_t columns) { return rows * columns + kGap; }

// Tiles of bordered copies, numbered over all copies.
struct Tiles {
  BorderedImage image;
  int64_t rows = 0, columns = 0;  // of tiles in an image
  int64_t first = 0, last = 0;

  int64_t count() const { return last - first; }
  // The offset of the first pixel of a tile, in block 0 of its image.
  int64_t Place(int64_t tile) const {
    const int64_t in_image = tile % (rows * columns);
    return tile / (rows * columns) * image.size() + in_image / columns * kTile * image.row_size() +
           in_image % columns * kTile * kChannelBlock;
  }
};

// --- tiles ---

// out [kPositions][tiles][channels] = B^T d B.
template <class L>
[[gnu::always_inline]] inline void TransformInputs(const Tiles& tiles, const float* images,
                                                   float* out) {
  using Vector = typename L::Vector;
  const int64_t channels = tiles.image.channels, row = tiles.image.row_size();
  const int64_t matrix = MatrixFloats(tiles.count(), channels);
  for (int64_t t = tiles.first; t < tiles.last; ++t, out += channels) {
    const float* const first = images + tiles.Place(t);
    for (int64_t c = 0; c < channels; c += L::kWidth) {
      const float* const x = first + c / kLanes * tiles.image.block_size() + c % kLanes;
      Vector half[kInput][kInput];  // B^T d, transposed
      CAFFE2RT_UNROLL
      for (int j = 0; j < kInput; ++j) {
        Vector d[kInput];
        CAFFE2RT_UNROLL
        for (int i = 0; i < kInput; ++i) d[i] = L::At(x + i * row + j * kChannelBlock).lanes;
        TransformInput(d, half[j]);
      }
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector d[kInput], result[kInput];
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) d[j] = half[j][i];
        TransformInput(d, result);
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) {
          L::At(out + c + (i * kInput + j) * matrix).lanes = result[j];
        }
      }
    }
  }
}

// out [kPositions][tiles][channels] = A dY A^T.
template <class L>
[[gnu::always_inline]] inline void TransformResults(const Tiles& tiles, const float* images,
                                                    float* out) {
  using Vector = typename L::Vector;
  const int64_t channels = tiles.image.channels, row = tiles.image.row_size();
  const int64_t matrix = MatrixFloats(tiles.count(), channels);
  for (int64_t t = tiles.first; t < tiles.last; ++t, out += channels) {
    const float* const first = images + tiles.Place(t);
    for (int64_t c = 0; c < channels; c += L::kWidth) {
      const float* const y = first + c / kLanes * tiles.image.block_size() + c % kLanes;
      Vector half[kTile][kInput];  // A dY, transposed
      CAFFE2RT_UNROLL
      for (int j = 0; j < kTile; ++j) {
        Vector d[kTile];
        CAFFE2RT_UNROLL
        for (int i = 0; i < kTile; ++i) d[i] = L::At(y + i * row + j * kChannelBlock).lanes;
        TransformOutputBack(d, half[j]);
      }
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector d[kTile], result[kInput];
        CAFFE2RT_UNROLL
        for (int j = 0; j < kTile; ++j) d[j] = half[j][i];
        TransformOutputBack(d, result);
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) {
          L::At(out + c + (i * kInput + j) * matrix).lanes = result[j];
        }
      }
    }
  }
}

// Adds B t B^T of `in` [kPositions][tiles][channels] to the images.
template <class L>
[[gnu::always_inline]] inline void AddInputGradients(const Tiles& tiles, const float* in,
                                                     float* images) {
  using Vector = typename L::Vector;
  const int64_t channels = tiles.image.channels, row = tiles.image.row_size();
  const int64_t matrix = MatrixFloats(tiles.count(), channels);
  for (int64_t t = tiles.first; t < tiles.last; ++t, in += channels) {
    float* const first = images + tiles.Place(t);
    for (int64_t c = 0; c < channels; c += L::kWidth) {
      float* const x = first + c / kLanes * tiles.image.block_size() + c % kLanes;
      Vector half[kInput][kInput];  // t B^T
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector d[kInput];
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) d[j] = L::At(in + c + (i * kInput + j) * matrix).lanes;
        TransformInputBack(d, half[i]);
      }
      CAFFE2RT_UNROLL
      for (int j = 0; j < kInput; ++j) {
        Vector d[kInput], result[kInput];
        CAFFE2RT_UNROLL
        for (int i = 0; i < kInput; ++i) d[i] = half[i][j];
        TransformInputBack(d, result);
        CAFFE2RT_UNROLL
        for (int i = 0; i < kInput; ++i) {
          L::At(x + i * row + j * kChannelBlock).lanes += result[i];
        }
      }
    }
  }
}

// --- filter ---

// The filter is [filters][channels][3][3], or with channels last [filters][3][3][channels].
struct FilterLayout {
  int64_t filters = 0, channels = 0;
  bool last = false;

  int64_t tap_step() const { return last ? channels : 1; }
  int64_t channel_step() const { return last ? 1 : kTaps; }
  int64_t matrix() const { return MatrixFloats(filters, channels); }
};

// out [kPositions][filters][channels] = G g G^T.
template <class L>
[[gnu::always_inline]] inline void TransformFilter(const FilterLayout& layout, const float* filter,
                                                   float* out) {
  using Vector = typename L::Vector;
  for (int64_t k = 0; k < layout.filters; ++k, out += layout.channels) {
    for (int64_t c = 0; c < layout.channels; c += L::kWidth) {
      const float* const g = filter + k * layout.channels * kTaps + c * layout.channel_step();
      alignas(64) float taps[kTaps][L::kWidth];
      for (int tap = 0; tap < kTaps; ++tap) {
        for (int i = 0; i < L::kWidth; ++i) {
          taps[tap][i] = g[tap * layout.tap_step() + i * layout.channel_step()];
        }
      }
      Vector half[kWinogradTaps][kInput];  // G g, transposed
      CAFFE2RT_UNROLL
      for (int j = 0; j < kWinogradTaps; ++j) {
        TransformTaps(L::At(taps[j]).lanes, L::At(taps[3 + j]).lanes, L::At(taps[6 + j]).lanes,
                      half[j]);
      }
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector t[kInput];
        TransformTaps(half[0][i], half[1][i], half[2][i], t);
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) {
          L::At(out + c + (i * kInput + j) * layout.matrix()).lanes = t[j];
        }
      }
    }
  }
}

// dfilter = G^T t G of `in` [kPositions][filters][channels].
template <class L>
[[gnu::always_inline]] inline void TransformFilterGradient(const FilterLayout& layout,
                                                           const float* in, float* dfilter) {
  using Vector = typename L::Vector;
  for (int64_t k = 0; k < layout.filters; ++k, in += layout.channels) {
    for (int64_t c = 0; c < layout.channels; c += L::kWidth) {
      Vector half[kInput][kWinogradTaps];  // t G
      CAFFE2RT_UNROLL
      for (int i = 0; i < kInput; ++i) {
        Vector t[kInput];
        CAFFE2RT_UNROLL
        for (int j = 0; j < kInput; ++j) {
          t[j] = L::At(in + c + (i * kInput + j) * layout.matrix()).lanes;
        }
        TransformTapsBack(t, half[i]);
      }
      alignas(64) float taps[kTaps][L::kWidth];
      CAFFE2RT_UNROLL
      for (int j = 0; j < kWinogradTaps; ++j) {
        Vector t[kInput], g[kWinogradTaps];
        CAFFE2RT_UNROLL
        for (int i = 0; i < kInput; ++i) t[i] = half[i][j];
        TransformTapsBack(t, g);
        CAFFE2RT_UNROLL
        for (int i = 0; i < kWinogradTaps; ++i) L::At(taps[i * kWinogradTaps + j]).lanes = g[i];
      }
      float* const to = dfilter + k * layout.channels * kTaps + c * layout.channel_step();
      for (int tap = 0; tap < kTaps; ++tap) {
        for (int i = 0; i < L::kWidth; ++i) {
          to[tap * layout.tap_step() + i * layout.channel_step()] = taps[tap][i];
        }
      }
    }
  }
}

// --- the multiplications ---

// C [rows, columns] = A [rows, depth] B [depth, columns], or is added to C. columns is a multiple of 16.
struct Product {
  int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  int64_t a_row = 0, a_step = 0;  // distances along rows and depth
  const float* b = nullptr;
  float* c = nullptr;
  bool add = false;
};

template <class L, int kRows>
[[gnu::always_inline]] inline void MultiplyRows(const Product& p, int64_t row, int64_t column) {
  using Vector = typename L::Vector;
  Vector sum[kRows][L::kParts] = {};
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column;
  for (int64_t k = 0; k < p.depth; ++k, a += p.a_step, b += p.columns) {
    CAFFE2RT_UNROLL
    for (int part = 0; part < L::kParts; ++part) {
      const Vector at = L::At(b + part * L::kWidth).lanes;
      CAFFE2RT_UNROLL
      for (int i = 0; i < kRows; ++i) sum[i][part] += at * a[i * p.a_row];
    }
  }
  float* c = p.c + row * p.columns + column;
  CAFFE2RT_UNROLL
  for (int i = 0; i < kRows; ++i, c += p.columns) {
    CAFFE2RT_UNROLL
    for (int part = 0; part < L::kParts; ++part) {
      auto& to = L::At(c + part * L::kWidth);
      to.lanes = p.add ? to.lanes + sum[i][part] : sum[i][part];
    }
  }
}

// Multiplies the matrices of all positions, which are the given distances apart.
template <class L>
[[gnu::always_inline]] inline void MultiplyAll(Product p, int64_t a_matrix, int64_t b_matrix,
                                               int64_t c_matrix) {
  // As many rows as the registers hold.
  constexpr int kRows = L::kParts == 1 ? 16 : L::kParts == 2 ? 4 : 2;
  for (int position = 0; position < kPositions; ++position) {
    for (int64_t column = 0; column < p.columns; column += kLanes) {
      int64_t row = 0;
      for (; row + kRows <= p.rows; row += kRows) MultiplyRows<L, kRows>(p, row, column);
      for (; row + 2 <= p.rows; row += 2) MultiplyRows<L, 2>(p, row, column);
      if (row < p.rows) MultiplyRows<L, 1>(p, row, column);
    }
    p.a += a_matrix;
    p.b += b_matrix;
    p.c += c_matrix;
  }
}

// --- instruction sets ---

struct WinogradGradientFunctions {
  void (*inputs)(const Tiles&, const float*, float*);
  void (*results)(const Tiles&, const float*, float*);
  void (*add_inputs)(const Tiles&, const float*, float*);
  void (*filter)(const FilterLayout&, const float*, float*);
  void (*filter_gradient)(const FilterLayout&, const float*, float*);
  void (*multiply)(const Product&, int64_t, int64_t, int64_t);
};

#define CAFFE2RT_WINOGRAD_GRADIENT_ISA(Name, LanesType, target)                                  \
  struct Name {                                                                                  \
    target static void Inputs(const Tiles& tiles, const float* images, float* out) {             \
      TransformInputs<LanesType>(tiles, images, out);                                            \
    }                                                                                            \
    target static void Results(const Tiles& tiles, const float* images, float* out) {            \
      TransformResults<LanesType>(tiles, images, out);                                           \
    }                                                                                            \
    target static void AddInputs(const Tiles& tiles, const float* in, float* images) {           \
      AddInputGradients<LanesType>(tiles, in, images);                                           \
    }                                                                                            \
    target static void Filter(const FilterLayout& layout, const float* filter, float* out) {     \
      TransformFilter<LanesType>(layout, filter, out);                                           \
    }                                                                                            \
    target static void FilterGradient(const FilterLayout& layout, const float* in, float* out) { \
      TransformFilterGradient<LanesType>(layout, in, out);                                       \
    }                                                                                            \
    target static void Multiply(const Product& p, int64_t a_matrix, int64_t b_matrix,            \
                                int64_t c_matrix) {                                              \
      MultiplyAll<LanesType>(p, a_matrix, b_matrix, c_matrix);                                   \
    }                                                                                            \
    static constexpr WinogradGradientFunctions kFunctions = {Inputs, Results,        AddInputs,  \
                                                             Filter, FilterGradient, Multiply};  \
  }
CAFFE2RT_WINOGRAD_GRADIENT_ISA(Avx512WinogradGradient, Avx512Lanes, CAFFE2RT_TARGET_AVX512);
CAFFE2RT_WINOGRAD_GRADIENT_ISA(Avx2WinogradGradient, Avx2Lanes, CAFFE2RT_TARGET_AVX2);
CAFFE2RT_WINOGRAD_GRADIENT_ISA(PlainWinogradGradient, PlainLanes, );
#undef CAFFE2RT_WINOGRAD_GRADIENT_ISA

// --- the kernel ---

class WinogradConvGradient final : public ConvGradientKernel {
 public:
  WinogradConvGradient(const ConvShape& shape, ConvGradientParts parts)
      : parts_(parts),
        batch_(shape.window.batch),
        filter_{shape.out_channels, shape.window.channels, shape.channels_last()},
        functions_(*PickByIsa(&Avx512WinogradGradient::kFunctions,
                              &Avx2WinogradGradient::kFunctions,
                              &PlainWinogradGradient::kFunctions)) {
    const WindowAxis &h = shape.window.axis[0], &w = shape.window.axis[1];
    rows_ = (h.out + kTile - 1) / kTile;
    columns_ = (w.out + kTile - 1) / kTile;
    y_ = {.channels = shape.out_channels,
          .height = h.out,
          .width = w.out,
          .rows = rows_ * kTile,
          .columns = columns_ * kTile};
    x_ = {.channels = shape.window.channels,
          .height = h.in,
          .width = w.in,
          .rows = rows_ * kTile + 2,
          .columns = columns_ * kTile + 2,
          .top = h.pad_head,
          .left = w.pad_head};
    // 512 KiB, but enough tiles for the multiplications to take longer than reading the filter.
    constexpr int64_t kBlockFloats = 1 << 17, kFewTiles = 24;
    const int64_t tile_floats = kPositions * (x_.channels + y_.channels);
    const int64_t wanted = std::max(kBlockFloats / tile_floats, kFewTiles);
    images_ = std::clamp<int64_t>(wanted / (rows_ * columns_), 1, batch_);
    const int64_t tiles = images_ * rows_ * columns_;
    const int64_t blocks = std::max<int64_t>(1, (tiles + wanted / 2) / wanted);
    block_tiles_ = (tiles + blocks - 1) / blocks;
  }

  int64_t ScratchSize() const override { return Divide(nullptr).size; }

  void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
           float* scratch) override {
    const Memory memory = Divide(scratch);
    // The borders.
    if (parts_.filter) std::fill_n(memory.x, images_ * x_.size(), 0.f);
    std::fill_n(memory.y, images_ * y_.size(), 0.f);
    if (parts_.x) functions_.filter(filter_, filter, memory.filter);
    for (int64_t first = 0; first < batch_; first += images_) {
      const int64_t count = std::min(images_, batch_ - first);
      CopyImages(x, dy, first, count, memory);
      for (int64_t tile = 0; tile < count * rows_ * columns_; tile += block_tiles_) {
        RunBlock(tile, std::min(tile + block_tiles_, count * rows_ * columns_),
                 first == 0 && tile == 0, memory);
      }
      if (!parts_.x) continue;
      for (int64_t i = 0; i < count; ++i) {
        CopyFromBorder(x_, filter_.last, memory.dx + i * x_.size(), dx + (first + i) * XSize());
      }
    }
    if (parts_.filter) functions_.filter_gradient(filter_, memory.dfilter, dfilter);
  }

 private:
  // Parts of the scratch memory.
  struct Memory {
    float *x = nullptr, *y = nullptr, *dx = nullptr;  // bordered images
    float *filter = nullptr, *dfilter = nullptr;      // transformed
    float *inputs = nullptr, *results = nullptr;      // transformed tiles
    int64_t size = 0;
  };

  int64_t XSize() const { return x_.channels * x_.height * x_.width; }
  int64_t YSize() const { return y_.channels * y_.height * y_.width; }

  Memory Divide(float* scratch) const {
    Memory memory;
    const auto take = [&](float** part, int64_t count) {
      if (scratch != nullptr) *part = scratch + memory.size;
      memory.size += AlignedFloats(count);
    };
    if (parts_.filter) take(&memory.x, images_ * x_.size());
    take(&memory.y, images_ * y_.size());
    if (parts_.x) {
      take(&memory.dx, images_ * x_.size());
      take(&memory.filter, kPositions * filter_.matrix());
    }
    if (parts_.filter) take(&memory.dfilter, kPositions * filter_.matrix());
    take(&memory.inputs, kPositions * MatrixFloats(block_tiles_, x_.channels));
    take(&memory.results, kPositions * MatrixFloats(block_tiles_, y_.channels));
    return memory;
  }

  void CopyImages(const float* x, const float* dy, int64_t first, int64_t count,
                  const Memory& memory) const {
    for (int64_t i = 0; i < count; ++i) {
      CopyIntoBorder(y_, filter_.last, dy + (first + i) * YSize(), memory.y + i * y_.size());
      if (!parts_.filter) continue;
      CopyIntoBorder(x_, filter_.last, x + (first + i) * XSize(), memory.x + i * x_.size());
    }
    if (parts_.x) std::fill_n(memory.dx, count * x_.size(), 0.f);
  }

  // Tiles [first, last) of the copied images. The matrices of the inputs are used for V, then for the
  // products that become dX.
  void RunBlock(int64_t first, int64_t last, bool first_of_all, const Memory& memory) const {
    const Tiles of_x{x_, rows_, columns_, first, last}, of_y{y_, rows_, columns_, first, last};
    const int64_t count = last - first;
    const int64_t x_matrix = MatrixFloats(count, x_.channels);
    const int64_t y_matrix = MatrixFloats(count, y_.channels);
    functions_.results(of_y, memory.y, memory.results);
    if (parts_.filter) {
      functions_.inputs(of_x, memory.x, memory.inputs);
      functions_.multiply({.rows = y_.channels,
                           .columns = x_.channels,
                           .depth = count,
                           .a = memory.results,
                           .a_row = 1,
                           .a_step = y_.channels,
                           .b = memory.inputs,
                           .c = memory.dfilter,
                           .add = !first_of_all},
                          y_matrix, x_matrix, filter_.matrix());
    }
    if (!parts_.x) return;
    functions_.multiply({.rows = count,
                         .columns = x_.channels,
                         .depth = y_.channels,
                         .a = memory.results,
                         .a_row = y_.channels,
                         .a_step = 1,
                         .b = memory.filter,
                         .c = memory.inputs,
                         .add = false},
                        y_matrix, filter_.matrix(), x_matrix);
    functions_.add_inputs(of_x, memory.inputs, memory.dx);
  }

  const ConvGradientParts parts_;
  const int64_t batch_;
  const FilterLayout filter_;
  const WinogradGradientFunctions& functions_;
  BorderedImage x_, y_;
  int64_t rows_ = 0, columns_ = 0;  // of tiles in an image
  int64_t images_ = 0;              // copied at a time
  int64_t block_tiles_ = 0;         // transformed at a time
};

}  // namespace

std::unique_ptr<ConvGradientKernel> NewWinogradConvGradient(const ConvShape& shape,
                                                            ConvGradientParts parts) {
  const auto fits = [](const WindowAxis& axis) {
    return axis.kernel == kWinogradTaps && axis.stride == 1 && axis.dilation == 1 &&
           axis.pad_head >= 0 && axis.pad_tail >= 0;
  };
  if (shape.window.axes != 2 || shape.group != 1 || !fits(shape.window.axis[0]) ||
      !fits(shape.window.axis[1]) || shape.window.channels % kLanes != 0 ||
      shape.out_channels % kLanes != 0) {
    return nullptr;
  }
  return std::make_unique<WinogradConvGradient>(shape, parts);
}

}  // namespace caffe2rt
