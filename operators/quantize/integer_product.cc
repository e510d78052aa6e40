#include "operators/quantize/integer_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

namespace {

// So many products of numbers from -255 to 255 fit into an int32.
constexpr int64_t kMaxProducts = 32768;

// Four dot products of a row with four others; compilers use the instructions that multiply pairs of
// int16 and add them.
CAFFE2RT_SIMD void FourProducts(int64_t n, const int16_t* a, const int16_t* b, int64_t ldb,
                                int32_t* sums) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const int16_t *b1 = b + ldb, *b2 = b + 2 * ldb, *b3 = b + 3 * ldb;
  for (int64_t k = 0; k < n; ++k) {
    s0 += static_cast<int32_t>(a[k]) * b[k];
    s1 += static_cast<int32_t>(a[k]) * b1[k];
    s2 += static_cast<int32_t>(a[k]) * b2[k];
    s3 += static_cast<int32_t>(a[k]) * b3[k];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

CAFFE2RT_SIMD int32_t OneProduct(int64_t n, const int16_t* a, const int16_t* b) {
  int32_t sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += static_cast<int32_t>(a[k]) * b[k];
  return sum;
}

void AddWrapping(int32_t* to, int32_t value) {
  *to = static_cast<int32_t>(static_cast<uint32_t>(*to) + static_cast<uint32_t>(value));
}

CAFFE2RT_SIMD void WidenUnsigned(int64_t n, const uint8_t* x, int32_t zero, int16_t* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i] - zero);
}
CAFFE2RT_SIMD void WidenSigned(int64_t n, const int8_t* x, int32_t zero, int16_t* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i] - zero);
}

struct RequantizeKernel {
  template <class Y>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const int32_t* sums, const float* multipliers,
                                       int64_t stride, float zero, Y* y) const {
    const float low = static_cast<float>(std::numeric_limits<Y>::min()) - zero;
    const float high = static_cast<float>(std::numeric_limits<Y>::max()) - zero;
    const float first = *multipliers;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) {
      const float multiplier = stride == 0 ? first : multipliers[i];
      float value = std::nearbyint(static_cast<float>(sums[i]) * multiplier);
      value = value >= low ? value : low;
      value = value <= high ? value : high;
      y[i] = static_cast<Y>(static_cast<int32_t>(value + zero));
    }
  }
};

template <class Y>
void Requantize(int64_t n, const int32_t* sums, const Requantization& by, Y* y) {
  RunSimd(RequantizeKernel{}, n, sums, by.multipliers, by.stride, static_cast<float>(by.zero), y);
}

}  // namespace

void MultiplyRows(int64_t rows, int64_t columns, int64_t depth, const int16_t* a, const int16_t* b,
                  int32_t* c, int64_t ldc) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(c + i * ldc, columns, 0);
  for (int64_t k = 0; k < depth; k += kMaxProducts) {
    const int64_t n = std::min(kMaxProducts, depth - k);
    for (int64_t j = 0; j < columns; j += 4) {
      const int64_t some = std::min<int64_t>(4, columns - j);
      for (int64_t i = 0; i < rows; ++i) {
        const int16_t* row = a + i * depth + k;
        int32_t* to = c + i * ldc + j;
        if (some == 4) {
          int32_t sums[4];
          FourProducts(n, row, b + j * depth + k, depth, sums);
          for (int64_t s = 0; s < 4; ++s) AddWrapping(to + s, sums[s]);
        } else {
          for (int64_t s = 0; s < some; ++s) {
            AddWrapping(to + s, OneProduct(n, row, b + (j + s) * depth + k));
          }
        }
      }
    }
  }
}

void WidenBytes(int64_t n, const uint8_t* x, int32_t zero, int16_t* y) {
  WidenUnsigned(n, x, zero, y);
}
void WidenBytes(int64_t n, const int8_t* x, int32_t zero, int16_t* y) {
  WidenSigned(n, x, zero, y);
}

void RequantizeSums(int64_t n, const int32_t* sums, const Requantization& by, uint8_t* y) {
  Requantize(n, sums, by, y);
}
void RequantizeSums(int64_t n, const int32_t* sums, const Requantization& by, int8_t* y) {
  Requantize(n, sums, by, y);
}

}  // namespace caffe2rt
