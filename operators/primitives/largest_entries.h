#pragma once
// LargestEntries: selects the k largest elements of a row, in Caffe2's order where some are equal
// or NaN.
//
//   largest_.Select(x, size, k);
//   for (const auto& [value, position] : largest_.entries()) ...

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace caffe2rt {

// Keep one for all rows: it allocates only while k grows.
class LargestEntries {
 public:
  using Entry = std::pair<float, int64_t>;

  // Selects the k largest elements of `x`, or all if there are fewer. REQUIRES: k >= 1.
  void Select(const float* x, int64_t size, int64_t k) {
    // The weakest one is at the top until the end. The steps define the order also where NaN makes
    // elements incomparable.
    heap_.clear();
    for (int64_t i = 0; i < size; ++i) {
      const bool is_full = static_cast<int64_t>(heap_.size()) == k;
      if (is_full && !(x[i] > heap_.front().first)) continue;
      heap_.emplace_back(x[i], i);
      std::push_heap(heap_.begin(), heap_.end(), Before);
      if (!is_full) continue;
      std::pop_heap(heap_.begin(), heap_.end(), Before);
      heap_.pop_back();
    }
    std::sort_heap(heap_.begin(), heap_.end(), Before);
  }

  // Elements and their positions, the largest first, and the first of equal ones.
  const std::vector<Entry>& entries() const { return heap_; }

 private:
  static bool Before(const Entry& a, const Entry& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  }

  std::vector<Entry> heap_;
};

}  // namespace caffe2rt
