#include "operators/int8/int8_depthwise.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/simd.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

// Sums of 64 channels stay in registers while the taps are added.
CAFFE2RT_SIMD void AddTapsOfBlock(const uint8_t* const* taps, int64_t count, const int16_t* weights,
                                  int64_t channels, int64_t first, const int32_t* start,
                                  int32_t* y) {
  constexpr int kChannels = 64;
  uint32_t sums[kChannels];  // wrap around
  for (int i = 0; i < kChannels; ++i) sums[i] = static_cast<uint32_t>(start[i]);
  for (int64_t t = 0; t < count; ++t) {
    const uint8_t* x = taps[t] + first;
    const int16_t* w = weights + t * channels + first;
    for (int i = 0; i < kChannels; ++i) sums[i] += static_cast<uint32_t>(x[i] * w[i]);
  }
  for (int i = 0; i < kChannels; ++i) y[i] = static_cast<int32_t>(sums[i]);
}

CAFFE2RT_SIMD void AddTapsOfRest(const uint8_t* const* taps, int64_t count, const int16_t* weights,
                                 int64_t channels, int64_t first, const int32_t* start,
                                 int32_t* y) {
  const int64_t n = channels - first;
  for (int64_t i = 0; i < n; ++i) y[i] = start[i];
  for (int64_t t = 0; t < count; ++t) {
    const uint8_t* x = taps[t] + first;
    const int16_t* w = weights + t * channels + first;
    for (int64_t i = 0; i < n; ++i) y[i] = math::WrappingAdd(y[i], x[i] * w[i]);
  }
}

}  // namespace

size_t Int8DepthwiseBytes(int64_t channels, int64_t taps) {
  const int64_t channel = CheckedAdd<int64_t>(CheckedMultiply<int64_t>(taps, sizeof(int16_t)),
                                              static_cast<int64_t>(sizeof(int32_t)));
  return static_cast<size_t>(CheckedMultiply(channels, channel));
}

void PackInt8Depthwise(int64_t channels, int64_t taps, const uint8_t* data, int32_t zero_point,
                       void* form) {
  auto* const totals = static_cast<int32_t*>(form);
  auto* const weights = reinterpret_cast<int16_t*>(totals + channels);
  for (int64_t c = 0; c < channels; ++c) {
    totals[c] = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int32_t weight = data[c * taps + t] - zero_point;
      weights[t * channels + c] = static_cast<int16_t>(weight);
      totals[c] = math::WrappingAdd(totals[c], weight);
    }
  }
}

void Int8DepthwiseWeights::Multiply(const uint8_t* const* taps, const int32_t* start,
                                    int32_t* sums) const {
  constexpr int64_t kChannels = 64;
  const auto* const weights =
      reinterpret_cast<const int16_t*>(static_cast<const int32_t*>(form_) + channels_);
  int64_t c = 0;
  for (; c + kChannels <= channels_; c += kChannels) {
    AddTapsOfBlock(taps, taps_, weights, channels_, c, start + c, sums + c);
  }
  if (c < channels_) AddTapsOfRest(taps, taps_, weights, channels_, c, start + c, sums + c);
}

}  // namespace caffe2rt
