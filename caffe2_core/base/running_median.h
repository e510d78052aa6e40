#pragma once
// RunningMedian: the median of any number of values in constant memory.
//
//   RunningMedian times;
//   for (...) times.Add(milliseconds);
//   times.Median();
//
// Up to kExactValues values the median is exact. With more values, it is the centre of the bin of a
// histogram whose bins grow in proportion to the value, and differs from the exact median by at
// most 0.6%. Values outside [2^-30, 2^30] count as the nearest of the two. Adding a value allocates
// nothing. May be used by one thread at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

class RunningMedian {
 public:
  static constexpr size_t kExactValues = 1000;

  RunningMedian();
  // REQUIRES: value >= 0.
  void Add(float value);
  // Returns 0 if there are no values. For an even number of values, the mean of the two in the
  // middle.
  float Median() const;
  int64_t count() const { return count_; }

 private:
  float ValueAt(int64_t rank) const;

  int64_t count_ = 0;
  std::vector<float> first_;   // the first kExactValues values
  std::vector<int64_t> bins_;  // of all values
};

}  // namespace caffe2rt
#pragma GCC visibility pop
