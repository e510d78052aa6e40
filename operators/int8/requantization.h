#pragma once
// Requantization: converts sums of products of quantized elements to stored elements of the output.
//
// The results are those of QNNPACK and gemmlowp, bit by bit. A real factor is represented as
// multiplier * 2^-31 * 2^-shift. The product of an accumulator and the multiplier is rounded to
// nearest after the first 31 bits, and again after `shift` bits, where halves are rounded away from
// zero.

#include <cstdint>

namespace caffe2rt {

struct Requantization {
  int32_t multiplier = 0;  // 0, or 2^30 up to 2^31 - 1
  int32_t shift = 0;       // 0 to 31
  int32_t zero_point = 0;  // of the output
  int32_t low = 0;         // the least and the greatest stored element
  int32_t high = 255;
};

// For a real factor. A factor below 2^-32, which no accumulator can reach, becomes 0. THROWS unless
// 0 <= factor < 1; `subject` names the factor in the message.
Requantization MakeRequantization(float factor, int32_t zero_point, int32_t low,
                                  const char* subject);

// Writes n stored elements.
void Requantize(const int32_t* sums, int64_t n, const Requantization& requantization, uint8_t* y);

// x / 2^shift, rounded to nearest, halves away from zero. REQUIRES: 0 <= shift <= 31.
inline int32_t RoundingShift(int32_t x, int32_t shift) {
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << shift) - 1);
  const int32_t rest = (x & mask) - (x < 0 ? 1 : 0);
  return (x >> shift) + (rest > (mask >> 1) ? 1 : 0);
}

}  // namespace caffe2rt
