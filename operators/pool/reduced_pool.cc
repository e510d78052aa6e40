#include "operators/pool/reduced_pool.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

template <class T, int kLanes>
using Lanes [[gnu::vector_size(kLanes * sizeof(T))]] = T;

// What a mean is made of: sum * factor + offset.
struct MeanScale {
  float factor = 1, offset = 0;
};

// Reads the first `n` of the lanes; the others are 0.
template <class V, class T>
CAFFE2RT_SIMD_INLINE inline void LoadLanes(const T* from, int64_t n, V* lanes) {
  constexpr int64_t kLanes = sizeof(V) / sizeof(T);
  if (n == kLanes) {
    std::memcpy(lanes, from, sizeof(V));
    return;
  }
  *lanes = V{};
  std::memcpy(lanes, from, static_cast<size_t>(n) * sizeof(T));
}

template <class V, class T>
CAFFE2RT_SIMD_INLINE inline void StoreLanes(const V& lanes, int64_t n, T* to) {
  constexpr int64_t kLanes = sizeof(V) / sizeof(T);
  std::memcpy(to, &lanes, n == kLanes ? sizeof(V) : static_cast<size_t>(n) * sizeof(T));
}

struct LargestByte {
  using Element = uint8_t;
  static constexpr int64_t kLanes = 32;
  using Vector = Lanes<uint8_t, kLanes>;
  CAFFE2RT_SIMD_INLINE static void Start(Vector* sum) { *sum = Vector{}; }
  CAFFE2RT_SIMD_INLINE static void Add(const Element* x, int64_t n, Vector* sum) {
    Vector in;
    LoadLanes(x, n, &in);
    *sum = in > *sum ? in : *sum;
  }
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale&,
                                          Element* y) {
    StoreLanes(sum, n, y);
  }
};

// Compares integers that have the order of the floats.
struct LargestBfloat16 {
  using Element = uint16_t;
  static constexpr int64_t kLanes = 16;
  using Vector = Lanes<int16_t, kLanes>;
  CAFFE2RT_SIMD_INLINE static void Start(Vector* sum) { *sum = Vector{} + kLeast; }
  CAFFE2RT_SIMD_INLINE static void Add(const Element* x, int64_t n, Vector* sum) {
    Vector in;
    LoadLanes(x, n, &in);
    const Vector magnitude = in & 0x7fff;
    const Vector key = in ^ ((in >> 15) & 0x7fff);
    const Vector number = magnitude > 0x7f80 ? Vector{} + kLeast : key;  // without NaN
    *sum = number > *sum ? number : *sum;
  }
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale&,
                                          Element* y) {
    const Vector bits = sum ^ ((sum >> 15) & 0x7fff);
    StoreLanes(bits, n, y);
  }
  static constexpr int16_t kLeast = INT16_MIN;  // the key of a NaN
};

// Rounds the means of 8 sums to bytes, halves to even.
CAFFE2RT_SIMD_INLINE inline void RoundMeans(const Lanes<int32_t, 8>& sums, const MeanScale& scale,
                                            Lanes<uint8_t, 8>* bytes) {
  using Integers = Lanes<int32_t, 8>;
  // Adding this number and subtracting it rounds to the nearest integer, halves to even.
  constexpr float kRound = 12582912;
  const Lanes<float, 8> low = {}, high = low + 255;
  Lanes<float, 8> mean =
      __builtin_convertvector(sums, Lanes<float, 8>) * scale.factor + scale.offset;
  mean = mean >= low ? mean : low;
  mean = mean <= high ? mean : high;
  const Lanes<float, 8> rounded = (mean + kRound) - kRound;
  *bytes = __builtin_convertvector(__builtin_convertvector(rounded, Integers), Lanes<uint8_t, 8>);
}

// The sums of bytes, as numbers of type T.
template <class T, int64_t kCount>
struct SumOfBytes {
  using Element = uint8_t;
  static constexpr int64_t kLanes = kCount;
  using Vector = Lanes<T, kLanes>;
  CAFFE2RT_SIMD_INLINE static void Start(Vector* sum) { *sum = Vector{}; }
  CAFFE2RT_SIMD_INLINE static void Add(const Element* x, int64_t n, Vector* sum) {
    Lanes<uint8_t, kLanes> in;
    LoadLanes(x, n, &in);
    *sum += __builtin_convertvector(in, Vector);
  }
};

struct MeanOfBytes : SumOfBytes<int32_t, 8> {
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale& scale,
                                          Element* y) {
    Lanes<uint8_t, kLanes> bytes;
    RoundMeans(sum, scale, &bytes);
    StoreLanes(bytes, n, y);
  }
};

// The same for windows of at most kMostElements, whose sums fit into 16 bits: four times as many lanes.
struct MeanOfFewBytes : SumOfBytes<uint16_t, 32> {
  static constexpr int64_t kMostElements = UINT16_MAX / UINT8_MAX;
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale& scale,
                                          Element* y) {
    Lanes<uint16_t, 8> sums[kLanes / 8];
    Lanes<uint8_t, 8> parts[kLanes / 8];
    std::memcpy(&sums, &sum, sizeof(sum));
    for (size_t i = 0; i < kLanes / 8; ++i) {
      RoundMeans(__builtin_convertvector(sums[i], Lanes<int32_t, 8>), scale, &parts[i]);
    }
    Lanes<uint8_t, kLanes> bytes;
    std::memcpy(&bytes, &parts, sizeof(bytes));
    StoreLanes(bytes, n, y);
  }
};

struct MeanOfBfloat16s {
  using Element = uint16_t;
  static constexpr int64_t kLanes = 8;
  using Vector = Lanes<float, kLanes>;
  using Bits = Lanes<uint32_t, kLanes>;
  CAFFE2RT_SIMD_INLINE static void Start(Vector* sum) { *sum = Vector{}; }
  CAFFE2RT_SIMD_INLINE static void Add(const Element* x, int64_t n, Vector* sum) {
    Lanes<uint16_t, kLanes> in;
    LoadLanes(x, n, &in);
    const Bits bits = __builtin_convertvector(in, Bits) << 16;
    Vector value;
    std::memcpy(&value, &bits, sizeof(value));
    *sum += value;
  }
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale& scale,
                                          Element* y) {
    const Vector mean = sum * scale.factor;
    Bits bits;
    std::memcpy(&bits, &mean, sizeof(bits));
    const Bits rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const Bits quiet = (bits >> 16) | 0x40;  // of a NaN, which rounding could make infinite
    const Bits upper = (bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
    StoreLanes(__builtin_convertvector(upper, Lanes<uint16_t, kLanes>), n, y);
  }
};

// The indices [first, last) inside X of a window.
struct WindowPart {
  int64_t first, last;
  int64_t size() const { return last - first; }
};
WindowPart WindowOf(const WindowAxis& axis, int64_t out, int64_t size) {
  const int64_t begin = out * axis.stride - axis.pad_head;
  return {std::max<int64_t>(begin, 0), std::min(begin + axis.kernel, size)};
}

// One window, of rows and columns of an image that begins at `x`.
template <class Element>
struct PooledPixel {
  const Element* x;
  int64_t rows, columns, row_step, channels;
  MeanScale scale;
  Element* y;
};

template <class R>
struct PoolPixel {
  CAFFE2RT_SIMD_INLINE void operator()(const PooledPixel<typename R::Element>* pixel) const {
    const int64_t channels = pixel->channels;
    const int64_t n = std::min(R::kLanes, channels);
    for (int64_t c = 0; c < channels; c += R::kLanes) {
      const int64_t first = std::min(c, channels - n);  // the last vector may overlap
      typename R::Vector sum;
      R::Start(&sum);
      const auto* row = pixel->x + first;
      for (int64_t r = 0; r < pixel->rows; ++r, row += pixel->row_step) {
        for (int64_t k = 0; k < pixel->columns; ++k) R::Add(row + k * channels, n, &sum);
      }
      R::Finish(sum, n, pixel->scale, pixel->y + first);
    }
  }
};

// The numbers of bf16, or of bytes.
struct Numbers {
  float ratio = 1;  // of the scales of X and Y
  int32_t zero_of_x = 0, zero_of_y = 0;
};

// A mean of bytes is that of the bytes without the zero point of X, to which that of Y is added.
MeanScale ScaleOf(const PoolPlan& plan, int64_t inside, const Numbers& numbers) {
  const int64_t all = plan.axis[1].kernel * plan.axis[2].kernel;
  const auto count = static_cast<float>(plan.include_pad && !plan.whole ? all : inside);
  const float zeros = static_cast<float>(numbers.zero_of_x) * static_cast<float>(inside) / count;
  return {.factor = numbers.ratio / count,
          .offset = static_cast<float>(numbers.zero_of_y) - zeros * numbers.ratio};
}

template <class R>
void Pool(const PoolPlan& plan, int64_t height, int64_t width, const Numbers& numbers,
          const typename R::Element* x, typename R::Element* y) {
  const int64_t channels = plan.channels;
  const int64_t out_height = plan.whole ? 1 : plan.axis[1].out;
  const int64_t out_width = plan.whole ? 1 : plan.axis[2].out;
  const auto span = [&](size_t axis, int64_t out, int64_t size) {
    return plan.whole ? WindowPart{0, size} : WindowOf(plan.axis[axis], out, size);
  };
  ParallelRanges(plan.batch * out_height, out_width * channels, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const auto* const image = x + row / out_height * height * width * channels;
      const WindowPart rows = span(1, row % out_height, height);
      for (int64_t column = 0; column < out_width; ++column) {
        const WindowPart columns = span(2, column, width);
        const PooledPixel<typename R::Element> pixel{
            .x = image + (rows.first * width + columns.first) * channels,
            .rows = rows.size(),
            .columns = columns.size(),
            .row_step = width * channels,
            .channels = channels,
            .scale = ScaleOf(plan, rows.size() * columns.size(), numbers),
            .y = y + (row * out_width + column) * channels};
        RunSimd(PoolPixel<R>{}, &pixel);
      }
    }
  });
}

}  // namespace

void MaxPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, const uint8_t* x,
                  uint8_t* y) {
  Pool<LargestByte>(plan, height, width, {}, x, y);
}

void MaxPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                      uint16_t* y) {
  Pool<LargestBfloat16>(plan, height, width, {}, x, y);
}

void MeanPoolBytes(const PoolPlan& plan, int64_t height, int64_t width,
                   const OnednnQuantization& from, const OnednnQuantization& to, const uint8_t* x,
                   uint8_t* y) {
  const int64_t elements = plan.whole ? height * width : plan.axis[1].kernel * plan.axis[2].kernel;
  const bool few =
      elements <= MeanOfFewBytes::kMostElements && plan.channels >= MeanOfFewBytes::kLanes;
  (few ? Pool<MeanOfFewBytes> : Pool<MeanOfBytes>)(plan, height, width,
                                                   {.ratio = from.scale / to.scale,
                                                    .zero_of_x = from.zero_point,
                                                    .zero_of_y = to.zero_point},
                                                   x, y);
}

void MeanPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                       uint16_t* y) {
  Pool<MeanOfBfloat16s>(plan, height, width, {}, x, y);
}

}  // namespace caffe2rt
