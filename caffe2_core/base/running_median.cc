#include "caffe2_core/base/running_median.h"

#include <algorithm>
#include <cmath>

namespace caffe2rt {
namespace {

constexpr int kLeastExponent = -30, kMostExponent = 30;
// 64 bins for each factor of two: neighbours differ by 1.1%, and a value from the centre of its bin
// by half of that.
constexpr int kBinsPerDoubling = 64;
constexpr int kBins = (kMostExponent - kLeastExponent) * kBinsPerDoubling;

size_t BinOf(float value) {
  // The comparison is false for NaN too.
  if (!(value > 0)) return 0;
  const float bin = std::floor((std::log2(value) - kLeastExponent) * kBinsPerDoubling);
  return static_cast<size_t>(std::clamp(bin, 0.f, kBins - 1.f));
}

float CentreOf(size_t bin) {
  return std::exp2((static_cast<float>(bin) + 0.5f) / kBinsPerDoubling + kLeastExponent);
}

}  // namespace

RunningMedian::RunningMedian() : bins_(kBins) { first_.reserve(kExactValues); }

void RunningMedian::Add(float value) {
  if (first_.size() < kExactValues) first_.push_back(value);
  ++bins_[BinOf(value)];
  ++count_;
}

float RunningMedian::Median() const {
  if (count_ == 0) return 0;
  if (count_ > static_cast<int64_t>(kExactValues)) {
    return (ValueAt((count_ - 1) / 2) + ValueAt(count_ / 2)) / 2;
  }
  std::vector<float> sorted = first_;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

// The centre of the bin with the value that is at `rank` in sorted order.
float RunningMedian::ValueAt(int64_t rank) const {
  int64_t seen = 0;
  for (size_t bin = 0; bin < bins_.size(); ++bin) {
    seen += bins_[bin];
    if (seen > rank) return CentreOf(bin);
  }
  return CentreOf(bins_.size() - 1);
}

}  // namespace caffe2rt
