#pragma once
// PieceRange: the pieces of a job that are left, from which several threads take.

#include <atomic>
#include <cstdint>

namespace caffe2rt {

// Thread safe. What was written before Set is visible to a thread that has taken a piece.
class PieceRange {
 public:
  void Set(uint64_t begin, uint64_t end) { range_.store(end << 32 | begin); }
  bool empty() const {
    const uint64_t range = range_.load();
    return BeginOf(range) >= EndOf(range);
  }

  // Take the first or the last piece. Return -1 if none is left.
  int TakeFirst() {
    uint64_t seen = range_.load(std::memory_order_relaxed);
    while (BeginOf(seen) < EndOf(seen)) {
      if (range_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return static_cast<int>(BeginOf(seen));
      }
    }
    return -1;
  }
  int TakeLast() {
    uint64_t seen = range_.load(std::memory_order_relaxed);
    while (BeginOf(seen) < EndOf(seen)) {
      if (range_.compare_exchange_weak(seen, seen - kOneEnd, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return static_cast<int>(EndOf(seen)) - 1;
      }
    }
    return -1;
  }

 private:
  static constexpr uint64_t kOneEnd = uint64_t{1} << 32;
  static uint32_t BeginOf(uint64_t range) { return static_cast<uint32_t>(range); }
  static uint32_t EndOf(uint64_t range) { return static_cast<uint32_t>(range >> 32); }

  std::atomic<uint64_t> range_{0};  // the first piece in the low half, the end in the high half
};

}  // namespace caffe2rt
