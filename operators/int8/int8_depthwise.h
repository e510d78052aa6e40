#pragma once
// The kernel of depthwise convolutions of quantized images: each channel has its own filter.

#include <cstdint>
#include <span>

namespace caffe2rt {

// The packed form of filters: the sum of each channel, and behind them the filters
// [channels, taps] minus their zero point, as [pairs of taps][channels][2]. An odd last tap has a
// second weight of 0.
size_t Int8DepthwiseBytes(int64_t channels, int64_t taps);
void PackInt8Depthwise(int64_t channels, int64_t taps, const uint8_t* data, int32_t zero_point,
                       void* form);

// A view of a packed form, with any content.
class Int8DepthwiseWeights {
 public:
  // REQUIRES: `form` is aligned like int32_t and outlives the view.
  Int8DepthwiseWeights(int64_t channels, int64_t taps, const void* form)
      : channels_(channels), taps_(taps), form_(form) {}

  int64_t taps() const { return taps_; }
  // The sum over the taps, for each channel.
  std::span<const int32_t> totals() const {
    return {static_cast<const int32_t*>(form_), static_cast<size_t>(channels_)};
  }
  // sums[c] = start[c] + sum over t of taps[t][c] * weight[t][c]. `taps` are the pixels under the
  // filter.
  void Multiply(const uint8_t* const* taps, const int32_t* start, int32_t* sums) const;

 private:
  const int64_t channels_, taps_;
  const void* const form_;
};

}  // namespace caffe2rt
