#include "cudart/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "cudart/happens_before.h"

#if defined(__SANITIZE_ADDRESS__)
#define FAKECUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAKECUDA_ASAN 1
#endif
#endif
#ifdef FAKECUDA_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace fakecuda {
namespace {

constexpr size_t kRemembered = 64;

void Poison([[maybe_unused]] void* ptr, [[maybe_unused]] size_t bytes) {
#ifdef FAKECUDA_ASAN
  __asan_poison_memory_region(ptr, bytes);
#endif
}

void Unpoison([[maybe_unused]] void* ptr, [[maybe_unused]] size_t bytes) {
#ifdef FAKECUDA_ASAN
  __asan_unpoison_memory_region(ptr, bytes);
#endif
}

void Protect(void* ptr, size_t bytes, int protection) {
  if (bytes == 0) return;
  if (mprotect(ptr, bytes, protection) != 0) {
    perror("[fakecuda] mprotect of device memory");
    abort();
  }
}

}  // namespace

Arena::Arena(size_t limit_bytes) {
  const size_t rounded = (limit_bytes + kHugePage - 1) / kHugePage * kHugePage;
  reserved_ = 4 * rounded + (size_t{256} << 20);
  mapping_ = mmap(nullptr, reserved_ + kHugePage, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) {
    perror("[fakecuda] cannot reserve addresses for a device");
    abort();
  }
  const auto address = reinterpret_cast<uintptr_t>(mapping_);
  base_ = static_cast<char*>(mapping_) + (kHugePage - address % kHugePage) % kHugePage;
  madvise(base_, reserved_, MADV_HUGEPAGE);  // may fail; only costs speed
  extents_[0] = reserved_;
}

Arena::~Arena() {
  Unpoison(base_, top_);
  munmap(mapping_, reserved_ + kHugePage);
}

// Leaves at least 64 poisoned bytes after every allocation.
size_t Arena::PlaceBytes(size_t bytes) { return (bytes + 64 + kPage - 1) / kPage * kPage; }

// Takes [offset, offset + bytes) if it is free.
bool Arena::Carve(size_t offset, size_t bytes) {
  auto it = extents_.upper_bound(offset);
  if (it == extents_.begin()) return false;
  --it;
  const size_t begin = it->first;
  const size_t end = begin + it->second;
  if (offset + bytes > end) return false;
  extents_.erase(it);
  if (begin < offset) extents_[begin] = offset - begin;
  if (offset + bytes < end) extents_[offset + bytes] = end - offset - bytes;
  return true;
}

size_t Arena::TakeExtent(size_t bytes) {
  while (!freed_.empty()) {
    const size_t offset = freed_.back();
    freed_.pop_back();
    if (Carve(offset, bytes)) return offset;
  }
  for (const auto& [offset, size] : extents_) {
    if (size < bytes) continue;
    const size_t found = offset;
    Carve(found, bytes);
    return found;
  }
  return reserved_;
}

void Arena::RaiseTop(size_t end) {
  std::lock_guard<std::mutex> lock(protection_);
  end = std::min(reserved_, (end + kHugePage - 1) / kHugePage * kHugePage);
  if (end <= top_) return;
  if (opened_ > 0) Protect(base_ + top_, end - top_, PROT_READ | PROT_WRITE);
  top_ = end;
}

void* Arena::Allocate(size_t bytes) {
  const size_t place = PlaceBytes(bytes);
  if (place < bytes) return nullptr;
  const size_t offset = TakeExtent(place);
  if (offset == reserved_) return nullptr;
  char* ptr = base_ + offset;
  RaiseTop(offset + place);
  Poison(ptr + bytes, place - bytes);
  Refresh(ptr, bytes);
  return ptr;
}

void Arena::Refresh(void* ptr, size_t bytes) {
#ifdef FAKECUDA_TSAN
  {
    // A new mapping makes ThreadSanitizer forget the accesses of the previous owner.
    std::lock_guard<std::mutex> lock(protection_);
    const int protection = opened_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
    const size_t place = PlaceBytes(bytes);
    mmap(ptr, place, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    madvise(ptr, place, MADV_HUGEPAGE);  // else the mapping is split into many areas
  }
#endif
  Unpoison(ptr, bytes);
  Open();
  memset(ptr, 0xCD, bytes);
  Close();
}

void Arena::Free(void* ptr, size_t bytes) {
  const size_t place = PlaceBytes(bytes);
  Poison(ptr, place);
  const auto offset = static_cast<size_t>(static_cast<char*>(ptr) - base_);
  if (freed_.size() == kRemembered) freed_.erase(freed_.begin());
  freed_.push_back(offset);
  auto it = extents_.emplace(offset, place).first;
  const auto next = std::next(it);
  if (next != extents_.end() && next->first == offset + place) {
    it->second += next->second;
    extents_.erase(next);
  }
  if (it == extents_.begin()) return;
  const auto previous = std::prev(it);
  if (previous->first + previous->second == offset) {
    previous->second += it->second;
    extents_.erase(it);
  }
}

void Arena::Retire(void* ptr, size_t bytes) { Poison(ptr, bytes); }

void Arena::Unretire(void* ptr, size_t bytes) { Unpoison(ptr, bytes); }

void Arena::Open() {
  std::lock_guard<std::mutex> lock(protection_);
  if (opened_++ == 0) Protect(base_, top_, PROT_READ | PROT_WRITE);
}

void Arena::Close() {
  std::lock_guard<std::mutex> lock(protection_);
  if (--opened_ == 0) Protect(base_, top_, PROT_NONE);
}

bool Arena::Contains(const void* ptr) const {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  const auto begin = reinterpret_cast<uintptr_t>(base_);
  return address >= begin && address - begin < reserved_;
}

}  // namespace fakecuda
