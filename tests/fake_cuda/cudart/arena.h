#pragma once

// The memory of one device: one reserved range of addresses that nobody can read or write, except
// while somebody holds it open.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace fakecuda {

// Where allocations lie in the range. Hands the place that was freed last out first, so that a use
// after free meets somebody else's memory at once. New memory is filled with 0xCD; freed memory and
// the rest of its page are poisoned for AddressSanitizer.
//
// Thread safety: Open and Close may be called by any thread; the other members need one lock of the
// caller's around them (the world's mutex).
// Invariants: free extents are disjoint, sorted, and no two touch; [base, base + top) holds every
// place that was ever handed out; protection is read-write exactly while opened > 0.
class Arena {
 public:
  static constexpr size_t kPage = 4096;
  // Protection changes by huge pages where the system has them: a hundred times cheaper.
  static constexpr size_t kHugePage = size_t{2} << 20;

  // Reserves addresses (no memory) for about four times `limit_bytes`, so that places run out long
  // after the limit does.
  explicit Arena(size_t limit_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A place of `bytes` bytes, page aligned; null when no address is left. REQUIRES: bytes > 0.
  void* Allocate(size_t bytes);
  // Makes an allocation as good as new: full of 0xCD, its history forgotten. REQUIRES: Allocate
  // gave it with the same `bytes`; no work on it is pending.
  void Refresh(void* ptr, size_t bytes);
  // REQUIRES: Allocate(bytes) gave `ptr`, and it was not freed since.
  void Free(void* ptr, size_t bytes);

  // Memory that a pool keeps while nobody may use it: poisoned for AddressSanitizer, or no longer.
  void Retire(void* ptr, size_t bytes);
  void Unretire(void* ptr, size_t bytes);

  // Makes the whole device readable and writable until as many calls of Close.
  void Open();
  void Close();

  bool Contains(const void* ptr) const;

 private:
  static size_t PlaceBytes(size_t bytes);
  size_t TakeExtent(size_t bytes);
  bool Carve(size_t offset, size_t bytes);
  void RaiseTop(size_t end);

  void* mapping_ = nullptr;
  char* base_ = nullptr;  // in the mapping, aligned to a huge page
  size_t reserved_ = 0;
  std::map<size_t, size_t> extents_;  // offset to size of what is free
  std::vector<size_t> freed_;         // offsets freed lately, the newest last
  std::mutex protection_;             // guards opened_ and top_, and orders mprotect
  int opened_ = 0;
  size_t top_ = 0;
};

}  // namespace fakecuda
