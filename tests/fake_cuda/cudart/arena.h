#pragma once

// The memory of one device: a reserved range of addresses that is inaccessible except while it is
// held open.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace fakecuda {

// Allocates memory in the range. The extent freed last is reused first, so that a use after free
// hits another allocation immediately. New memory is filled with 0xCD. Freed memory, and the rest
// of the last page of an allocation, are poisoned for AddressSanitizer.
//
// Thread safety: Open and Close may be called by any thread. The caller must serialize the other
// members (the world's mutex).
// Invariants: free extents are disjoint, sorted and never adjacent; [base_, base_ + top_) contains
// every extent ever allocated; it is readable and writable exactly while opened_ > 0.
class Arena {
 public:
  static constexpr size_t kPage = 4096;
  // Protection is changed in units of huge pages if the system has them, a hundred times cheaper.
  static constexpr size_t kHugePage = size_t{2} << 20;

  // Reserves addresses (not memory) for about four times `limit_bytes`, so that fragmentation does
  // not exhaust them before the limit is reached.
  explicit Arena(size_t limit_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns `bytes` bytes, page aligned, or null if no addresses are left. REQUIRES: bytes > 0.
  void* Allocate(size_t bytes);
  // Makes an allocation indistinguishable from a new one: fills it with 0xCD and makes
  // ThreadSanitizer forget earlier accesses. REQUIRES: Allocate returned it for the same `bytes`;
  // no work on it is pending.
  void Refresh(void* ptr, size_t bytes);
  // REQUIRES: Allocate(bytes) returned `ptr`, and it has not been freed since.
  void Free(void* ptr, size_t bytes);

  // Poisons memory that a pool caches, for AddressSanitizer, and undoes it.
  void Retire(void* ptr, size_t bytes);
  void Unretire(void* ptr, size_t bytes);

  // Makes the whole device readable and writable until Close has been called as often as Open.
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
  std::map<size_t, size_t> extents_;  // free: offset to size
  std::vector<size_t> freed_;         // recently freed offsets, the newest last
  std::mutex protection_;             // guards opened_ and top_, and orders mprotect
  int opened_ = 0;
  size_t top_ = 0;
};

}  // namespace fakecuda
