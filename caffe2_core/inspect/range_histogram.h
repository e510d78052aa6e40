#pragma once
// RangeHistogram: how often the numbers of a tensor occur, in memory of a constant size, and the range by
// which bytes represent them best.
//
//   RangeHistogram histogram;
//   for (...) histogram.Add(x.data<float>(), x.numel());
//   const RangeHistogram::Range range = histogram.BestRange();
//
// The bins have one width, a power of two, and lie around 0. When a number lies beyond them, the width is
// doubled and two bins become one. Not thread safe.

#include <array>
#include <cstdint>

#pragma GCC visibility push(default)
namespace caffe2rt {

class RangeHistogram {
 public:
  struct Range {
    float min = 0, max = 0;
  };

  void Add(const float* data, int64_t count);

  // From the smallest to the largest finite number, extended to contain 0.
  Range seen() const { return seen_; }
  int64_t elements() const { return elements_; }
  int64_t not_finite() const { return not_finite_; }

  // The sum of the squared errors if bytes represent the numbers by this range: 256 values at equal
  // distances, one of them 0. Numbers outside it become its bounds. Zeros have no error. `range` contains
  // 0 and is not empty.
  double SquaredError(Range range) const;
  // seen(), unless a smaller range has at most half of its squared error, because few numbers lie far
  // outside: then that with the least.
  Range BestRange() const;

 private:
  static constexpr int kHalf = 2048;  // bins on each side of 0

  void DoubleWidth();

  Range seen_;
  int64_t elements_ = 0, not_finite_ = 0;
  int exponent_ = -149;  // the width of a bin is 2^exponent_
  std::array<int64_t, 2 * kHalf> counts_ =
      {};  // of numbers other than 0; bin i begins at (i - kHalf) widths
};

}  // namespace caffe2rt
#pragma GCC visibility pop
