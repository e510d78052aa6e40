#include "caffe2_core/inspect/range_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace caffe2rt::test::range_histogram_test {
namespace {

RangeHistogram HistogramOf(const std::vector<float>& numbers) {
  RangeHistogram histogram;
  histogram.Add(numbers.data(), static_cast<int64_t>(numbers.size()));
  return histogram;
}

// 1,000 numbers from 0.001 to 1.
std::vector<float> Ramp() {
  std::vector<float> numbers;
  for (int i = 1; i <= 1000; ++i) numbers.push_back(static_cast<float>(i) / 1000);
  return numbers;
}

TEST(RangeHistogramTest, SeesAllFiniteNumbersAndZero) {
  const RangeHistogram histogram = HistogramOf({3, 5, NAN, INFINITY, 4});
  EXPECT_EQ(histogram.seen().min, 0);
  EXPECT_EQ(histogram.seen().max, 5);
  EXPECT_EQ(histogram.elements(), 5);
  EXPECT_EQ(histogram.not_finite(), 2);
}

// What is not finite has no error, on either side and whatever the width of a bin.
TEST(RangeHistogramTest, CountsNoErrorOfNumbersThatAreNotFinite) {
  for (const float number : {NAN, INFINITY, -INFINITY}) {
    for (const float finite : {0.0f, 1.0f}) {
      const RangeHistogram with = HistogramOf({finite, number}), without = HistogramOf({finite});
      // Clipped at 1/2, the number 1 has the error 1/4.
      EXPECT_NEAR(with.SquaredError({-0.5f, 0.5f}), finite / 4, 1e-3) << number;
      EXPECT_EQ(with.SquaredError({-0.5f, 0.5f}), without.SquaredError({-0.5f, 0.5f})) << number;
    }
  }
}

// The error of rounding is scale^2 / 12 for each number but 0.
TEST(RangeHistogramTest, AddsErrorsOfRoundingAndClipping) {
  std::vector<float> numbers = Ramp();
  numbers.push_back(0);
  const RangeHistogram histogram = HistogramOf(numbers);
  const double scale = 1.0 / 255;
  EXPECT_NEAR(histogram.SquaredError({0, 1}), 1000 * scale * scale / 12, 1e-9);
  // Clipped at 1/2: the sum of (i / 1000 - 0.5)^2 for i = 501 to 1,000 is 41.79.
  EXPECT_NEAR(histogram.SquaredError({0, 0.5f}), 41.79, 0.2);
}

TEST(RangeHistogramTest, KeepsTheWholeRangeOfEvenNumbers) {
  const RangeHistogram::Range range = HistogramOf(Ramp()).BestRange();
  EXPECT_EQ(range.min, 0);
  EXPECT_EQ(range.max, 1);
}

// One number of 1,000 among a million below 1 would make the scale of all others 1,000 times larger.
TEST(RangeHistogramTest, LeavesOutAnOutlierAmongManyNumbers) {
  std::vector<float> ramp = Ramp();
  RangeHistogram histogram;
  for (int i = 0; i < 10000; ++i) histogram.Add(ramp.data(), 1000);
  const float outlier = 20;
  histogram.Add(&outlier, 1);
  const RangeHistogram::Range range = histogram.BestRange();
  EXPECT_EQ(histogram.seen().max, 20);
  EXPECT_LT(range.max, 20);
  EXPECT_GE(range.max, 1);
  EXPECT_LE(histogram.SquaredError(range), histogram.SquaredError(histogram.seen()) / 2);
}

TEST(RangeHistogramTest, LeavesOutOutliersOfOneSide) {
  std::vector<float> numbers;
  for (int i = 0; i < 1000000; ++i) numbers.push_back(static_cast<float>(i % 201 - 100) / 100);
  numbers.push_back(-6);
  const RangeHistogram::Range range = HistogramOf(numbers).BestRange();
  EXPECT_EQ(range.max, 1);
  EXPECT_GT(range.min, -6);
  EXPECT_LE(range.min, -1);
}

// The bins grow by factors of two from the smallest float on, and no count is lost.
TEST(RangeHistogramTest, CountsTheSameWhateverComesFirst) {
  std::vector<float> up, down;
  for (int i = -40; i < 40; ++i) {
    up.push_back(std::ldexp(i % 2 == 0 ? 1.0f : -1.0f, i));
    down.insert(down.begin(), up.back());
  }
  const RangeHistogram first = HistogramOf(up), second = HistogramOf(down);
  const RangeHistogram::Range range{-1e6f, 1e6f};
  EXPECT_EQ(first.SquaredError(range), second.SquaredError(range));
  RangeHistogram pieces;
  for (const float x : up) pieces.Add(&x, 1);
  EXPECT_NEAR(pieces.SquaredError(range), first.SquaredError(range),
              1e-9 * first.SquaredError(range));
}

// Numbers that came before larger ones are counted as if they had come with them: here all integers
// within a bin's number, then some whose bins are 2, 4, 64 and 1,024 wide.
TEST(RangeHistogramTest, NumbersKeepTheirBinsWhenTheyBecomeWider) {
  for (const float last : {2048.0f, -2049.0f, 4096.0f, -100000.0f, 2000000.0f}) {
    std::vector<float> numbers;
    for (int i = 1; i < 2048; ++i) {
      numbers.push_back(static_cast<float>(i));
      for (int copy = 0; copy < i % 3; ++copy) numbers.push_back(static_cast<float>(-i));
    }
    RangeHistogram pieces = HistogramOf(numbers);
    pieces.Add(&last, 1);
    numbers.push_back(last);
    const RangeHistogram whole = HistogramOf(numbers);
    for (const RangeHistogram::Range range :
         {RangeHistogram::Range{-0.25f, 0.25f}, RangeHistogram::Range{-5, 300},
          RangeHistogram::Range{-700, 1}, RangeHistogram::Range{-1023, 1024},
          RangeHistogram::Range{-2047, 2000}})
      EXPECT_EQ(pieces.SquaredError(range), whole.SquaredError(range))
          << last << ", " << range.min << " to " << range.max;
    EXPECT_EQ(pieces.elements(), whole.elements());
  }
}

TEST(RangeHistogramTest, HasNoRangeOfZeros) {
  const RangeHistogram histogram = HistogramOf({0, 0});
  EXPECT_EQ(histogram.BestRange().min, 0);
  EXPECT_EQ(histogram.BestRange().max, 0);
}

}  // namespace
}  // namespace caffe2rt::test::range_histogram_test
