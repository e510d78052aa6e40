#pragma once
// Which tensors share memory: a view of some rows of a tensor has a storage and an address of its
// own, but its bytes are those of the tensor.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

// The bytes at addresses in [begin, end). Empty if there are none.
struct MemoryRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool empty() const { return begin >= end; }
  bool operator==(const MemoryRange&) const = default;
};

inline MemoryRange RangeOf(const Storage* storage) {
  if (storage == nullptr) return {};
  const auto begin = reinterpret_cast<uintptr_t>(storage->data());
  return {.begin = begin, .end = begin + storage->capacity_bytes()};
}

// A set of ranges. Those that overlap are merged, so that all bytes of one merged range have one
// identity. Not thread safe.
class MergedRanges {
 public:
  // REQUIRES: Merge has not been called.
  void Add(const MemoryRange& range) {
    if (!range.empty()) ranges_.push_back(range);
  }
  void Merge() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const MemoryRange& a, const MemoryRange& b) { return a.begin < b.begin; });
    size_t merged = 0;
    for (const MemoryRange& range : ranges_) {
      if (merged > 0 && range.begin < ranges_[merged - 1].end) {
        ranges_[merged - 1].end = std::max(ranges_[merged - 1].end, range.end);
      } else {
        ranges_[merged++] = range;
      }
    }
    ranges_.resize(merged);
  }
  // The first merged range that overlaps `range`, or null. The pointer stays valid. REQUIRES: Merge
  // has been called.
  const MemoryRange* Find(const MemoryRange& range) const {
    if (range.empty()) return nullptr;
    const auto found = std::upper_bound(
        ranges_.begin(), ranges_.end(), range.begin,
        [](uintptr_t address, const MemoryRange& merged) { return address < merged.end; });
    return found != ranges_.end() && found->begin < range.end ? &*found : nullptr;
  }

 private:
  std::vector<MemoryRange> ranges_;
};

}  // namespace caffe2rt
