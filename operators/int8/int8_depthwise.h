#pragma once
// The kernel of depthwise convolutions of quantized images: each channel has its own filter.

#include <cstdint>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// The filters [channels, taps] minus their zero point, as [taps][channels].
class Int8DepthwiseWeights {
 public:
  Int8DepthwiseWeights(int64_t channels, int64_t taps, const uint8_t* data, int32_t zero_point);

  int64_t taps() const { return taps_; }
  // The sum over the taps, for each channel.
  const std::vector<int32_t>& totals() const { return totals_; }
  // sums[c] = start[c] + sum over t of taps[t][c] * weight[t][c]. `taps` are the pixels under the
  // filter.
  void Multiply(const uint8_t* const* taps, const int32_t* start, int32_t* sums) const;

 private:
  const int64_t channels_, taps_;
  std::vector<int32_t> totals_;
  Tensor weights_{CPU};  // counts toward the memory limit
};

}  // namespace caffe2rt
