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

struct MeanOfBytes {
  using Element = uint8_t;
  static constexpr int64_t kLanes = 8;
  using Vector = Lanes<int32_t, kLanes>;
  using Floats = Lanes<float, kLanes>;
  CAFFE2RT_SIMD_INLINE static void Start(Vector* sum) { *sum = Vector{}; }
  CAFFE2RT_SIMD_INLINE static void Add(const Element* x, int64_t n, Vector* sum) {
    Lanes<uint8_t, kLanes> in;
    LoadLanes(x, n, &in);
    *sum += __builtin_convertvector(in, Vector);
  }
  CAFFE2RT_SIMD_INLINE static void Finish(const Vector& sum, int64_t n, const MeanScale& scale,
                                          Element* y) {
    // Adding this number and subtracting it rounds to the nearest integer, halves to even.
    constexpr float kRound = 12582912;
    const Floats mean = __builtin_convertvector(sum, Floats) * scale.factor + scale.offset;
    const Floats rounded = (mean + kRound) - kRound;
    const auto bytes =
        __builtin_convertvector(__builtin_convertvector(rounded, Vector), Lanes<uint8_t, kLanes>);
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

// A mean of bytes is that of the numbers without their zero point, to which it is added.
MeanScale ScaleOf(const PoolPlan& plan, int64_t inside, int32_t zero_point) {
  const int64_t all = plan.axis[1].kernel * plan.axis[2].kernel;
  const auto count = static_cast<float>(plan.include_pad && !plan.whole ? all : inside);
  const auto zero = static_cast<float>(zero_point);
  return {.factor = 1 / count, .offset = zero - zero * static_cast<float>(inside) / count};
}

template <class R>
void Pool(const PoolPlan& plan, int64_t height, int64_t width, int32_t zero_point,
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
            .scale = ScaleOf(plan, rows.size() * columns.size(), zero_point),
            .y = y + (row * out_width + column) * channels};
        RunSimd(PoolPixel<R>{}, &pixel);
      }
    }
  });
}

}  // namespace

void MaxPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, const uint8_t* x,
                  uint8_t* y) {
  Pool<LargestByte>(plan, height, width, 0, x, y);
}

void MaxPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                      uint16_t* y) {
  Pool<LargestBfloat16>(plan, height, width, 0, x, y);
}

void MeanPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, int32_t zero_point,
                   const uint8_t* x, uint8_t* y) {
  Pool<MeanOfBytes>(plan, height, width, zero_point, x, y);
}

void MeanPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                       uint16_t* y) {
  Pool<MeanOfBfloat16s>(plan, height, width, 0, x, y);
}

}  // namespace caffe2rt
