#include "operators/conv/int8_filter.h"

#include <algorithm>
#include <cmath>

namespace caffe2rt {

namespace {

float FiniteOrZero(float value) { return std::isfinite(value) ? value : 0.0f; }

float LargestOf(const float* filter, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(FiniteOrZero(filter[i])));
  }
  return largest;
}

// The largest sum of two adjacent input channels of the same sign.
float LargestPairOf(const Int8FilterSize& size, const float* filter) {
  float largest = 0;
  for (int64_t in = 0; in + 1 < size.in; in += size.any_pair ? 1 : 2) {
    const float *a = filter + in * size.taps, *b = a + size.taps;
    for (int64_t tap = 0; tap < size.taps; ++tap) {
      const float x = FiniteOrZero(a[tap]), y = FiniteOrZero(b[tap]);
      if ((x < 0) == (y < 0)) largest = std::max(largest, std::fabs(x) + std::fabs(y));
    }
  }
  return largest;
}

// Each of two bytes is rounded by at most a half, so 127 before is at most 128 after.
float ScaleOf(const Int8FilterSize& size, const float* filter) {
  float largest = LargestOf(filter, size.in * size.taps);
  if (size.pair_limited) largest = std::max(largest, LargestPairOf(size, filter));
  const float scale = largest / 127;
  return scale > 0 ? scale : 1;
}

}  // namespace

void FindFilterScales(const Int8FilterSize& size, const float* filter, float* scales) {
  for (int64_t out = 0; out < size.out; ++out) {
    scales[out] = ScaleOf(size, filter + out * size.in * size.taps);
  }
}

void QuantizeFilterTo(const Int8FilterSize& size, const float* filter, const float* scales,
                      int8_t* bytes, float* sums) {
  const int64_t row = size.in * size.taps;
  for (int64_t out = 0; out < size.out; ++out, filter += row, bytes += row) {
    int64_t sum = 0;
    for (int64_t i = 0; i < row; ++i) {
      const float rounded = std::nearbyint(FiniteOrZero(filter[i]) / scales[out]);
      bytes[i] = static_cast<int8_t>(std::clamp(rounded, -127.0f, 127.0f));
      sum += bytes[i];
    }
    sums[out] = static_cast<float>(sum);
  }
}

void QuantizeFilter(const Int8FilterSize& size, const float* filter, int8_t* bytes, float* scales,
                    float* sums) {
  FindFilterScales(size, filter, scales);
  QuantizeFilterTo(size, filter, scales, bytes, sums);
}

}  // namespace caffe2rt
