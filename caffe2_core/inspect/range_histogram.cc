#include "caffe2_core/inspect/range_histogram.h"

#include <algorithm>
#include <cmath>

namespace caffe2rt {

void RangeHistogram::Add(const float* data, int64_t count) {
  float min = seen_.min, max = seen_.max;
  int64_t not_finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool finite = std::isfinite(data[i]);
    not_finite += !finite;
    min = finite && data[i] < min ? data[i] : min;
    max = finite && data[i] > max ? data[i] : max;
  }
  seen_ = {.min = min, .max = max};
  elements_ += count;
  not_finite_ += not_finite;
  const double largest = std::max(-static_cast<double>(min), static_cast<double>(max));
  while (std::ldexp(kHalf, exponent_) <= largest) DoubleWidth();
  const double inverse = std::ldexp(1.0, -exponent_);  // beyond a float's exponents
  for (int64_t i = 0; i < count; ++i) {
    if (data[i] == 0 || !std::isfinite(data[i])) continue;
    const auto bin = static_cast<int64_t>(std::floor(static_cast<double>(data[i]) * inverse));
    ++counts_[static_cast<size_t>(std::clamp<int64_t>(bin + kHalf, 0, 2 * kHalf - 1))];
  }
}

void RangeHistogram::DoubleWidth() {
  ++exponent_;
  // From 0 outwards, on both sides, so that no count is overwritten before it is read.
  constexpr auto kMiddle = static_cast<size_t>(kHalf);
  for (size_t i = 0; i < kMiddle; ++i) {
    const bool has = 2 * i < kMiddle;
    counts_[kMiddle + i] = has ? counts_[kMiddle + 2 * i] + counts_[kMiddle + 2 * i + 1] : 0;
    const size_t low = kMiddle - 1 - i;
    counts_[low] = has ? counts_[kMiddle - 1 - 2 * i] + counts_[kMiddle - 2 - 2 * i] : 0;
  }
}

double RangeHistogram::SquaredError(Range range) const {
  const double low = range.min, high = range.max, scale = (high - low) / 255;
  const double rounding = scale * scale / 12;  // the mean over numbers between two values
  const double width = std::ldexp(1.0, exponent_);
  double sum = 0;
  for (int i = 0; i < 2 * kHalf; ++i) {
    const int64_t count = counts_[static_cast<size_t>(i)];
    if (count == 0) continue;
    const double x = (i - kHalf + 0.5) * width;
    const double beyond = std::max({low - x, x - high, 0.0});
    // Within half a bin of a bound, the numbers may lie on either side of it.
    const double error = beyond <= width ? rounding : beyond * beyond;
    sum += static_cast<double>(count) * error;
  }
  return sum;
}

RangeHistogram::Range RangeHistogram::BestRange() const {
  if (!(seen_.min < seen_.max)) return seen_;
  constexpr int kSteps = 128;  // of each factor; 2^(1/8) apart, so down to 2^-16 of what was seen
  const double whole = SquaredError(seen_);
  Range best = seen_;
  double least = whole;
  for (int i = 1; i < kSteps; ++i) {
    const auto factor = static_cast<float>(std::exp2(-i / 8.0));
    // One side alone may have the outliers.
    const Range tries[] = {{seen_.min * factor, seen_.max * factor},
                           {seen_.min, seen_.max * factor},
                           {seen_.min * factor, seen_.max}};
    for (const Range& range : tries) {
      if (!(range.min < range.max)) continue;
      const double error = SquaredError(range);
      if (error >= least) continue;
      least = error;
      best = range;
    }
  }
  return least <= whole / 2 ? best : seen_;
}

}  // namespace caffe2rt
