#include "operators/int8/requantization.h"

#include <algorithm>
#include <bit>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"

namespace caffe2rt {

namespace {

// The logical shift of the 64-bit product, cut to 32 bits, equals the arithmetic one; AVX2 has only
// the logical one.
CAFFE2RT_SIMD void RequantizeInt8(const int32_t* sums, int64_t n, int32_t multiplier, int32_t shift,
                                  int32_t zero_point, int32_t low, int32_t high, uint8_t* y) {
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << shift) - 1);
  const int32_t threshold = mask >> 1;
  const int32_t least = low - zero_point, greatest = high - zero_point;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t product = int64_t{sums[i]} * multiplier + (int64_t{1} << 30);
    const int32_t x = static_cast<int32_t>(static_cast<uint64_t>(product) >> 31);
    const int32_t rest = (x & mask) - (x < 0 ? 1 : 0);
    int32_t rounded = (x >> shift) + (rest > threshold ? 1 : 0);
    rounded = rounded < least ? least : rounded;
    rounded = rounded > greatest ? greatest : rounded;
    y[i] = static_cast<uint8_t>(rounded + zero_point);
  }
}

}  // namespace

Requantization MakeRequantization(float factor, int32_t zero_point, int32_t low,
                                  const char* subject) {
  // Also false for NaN.
  CAFFE_ENFORCE(factor >= 0 && factor < 1, subject, " is ", factor,
                ", want below 1: set a larger Y_scale");
  constexpr int32_t kMantissaBits = 23, kSmallestShift = 126, kBitsOfFloat = 7;
  Requantization result{.zero_point = zero_point, .low = low};
  const auto bits = std::bit_cast<int32_t>(factor);
  const int32_t shift = kSmallestShift - (bits >> kMantissaBits);
  if (shift > 31) return result;
  const int32_t mantissa = (bits & ((1 << kMantissaBits) - 1)) | (1 << kMantissaBits);
  result.multiplier = mantissa << kBitsOfFloat;
  result.shift = shift;
  return result;
}

void Requantize(const int32_t* sums, int64_t n, const Requantization& requantization, uint8_t* y) {
  RequantizeInt8(sums, n, requantization.multiplier, requantization.shift,
                 requantization.zero_point, requantization.low, requantization.high, y);
}

}  // namespace caffe2rt
