// Replaces operator new and delete of a program, so that all that C++ takes from the heap counts
// against the budget (memory_budget.h). Not part of the library: the object library
// caffe2rt_counted_new, for programs. What libstdc++, protobuf and LevelDB allocate comes here too,
// because a program's definition goes before those of shared libraries.
//
// Every block counts with its real size and the allocator's word beside it, so that many small
// blocks cannot exceed the limit unseen. TSAN does not let programs replace these functions: they
// count nothing there.

#if defined(__SANITIZE_THREAD__)
#define CAFFE2RT_CANNOT_REPLACE_NEW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAFFE2RT_CANNOT_REPLACE_NEW 1
#endif
#endif

#ifndef CAFFE2RT_CANNOT_REPLACE_NEW

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>

#include "caffe2_core/base/memory_budget.h"

namespace {

using caffe2rt::ReleaseCPUBytes;
using caffe2rt::TryReserveCPUBytes;

// Small blocks may exceed the limit by a little, so that an error beyond it can be described; and
// by a little more while an exception is handled, since a crowd of small blocks may have taken
// that.
constexpr size_t kSmallBytes = 64 << 10;
constexpr size_t kHeadroomBytes = 4 << 20;
constexpr size_t kHeadroomOfHandlersBytes = 8 << 20;
constexpr size_t kBookkeepingBytes = sizeof(size_t);

bool IsHandlingException() {
  return std::uncaught_exceptions() > 0 || std::current_exception() != nullptr;
}

bool Charge(size_t nbytes, bool is_small) {
  if (!is_small) return TryReserveCPUBytes(nbytes);
  return TryReserveCPUBytes(nbytes, kHeadroomBytes) ||
         (IsHandlingException() && TryReserveCPUBytes(nbytes, kHeadroomOfHandlersBytes));
}

size_t CountedSize(void* block) { return malloc_usable_size(block) + kBookkeepingBytes; }

void* Allocate(size_t size, size_t alignment) noexcept {
  size = std::max<size_t>(size, 1);
  const bool is_small = size <= kSmallBytes;
  // The system is not asked for what the budget refuses.
  if (!is_small) {
    if (!TryReserveCPUBytes(size)) return nullptr;
    ReleaseCPUBytes(size);
  }
  void* block = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    block = std::malloc(size);
  } else if (posix_memalign(&block, alignment, size) != 0) {
    block = nullptr;
  }
  if (block == nullptr || Charge(CountedSize(block), is_small)) return block;
  std::free(block);
  return nullptr;
}

void* AllocateOrThrow(size_t size, size_t alignment = 0) {
  void* const block = Allocate(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void Free(void* block) noexcept {
  if (block == nullptr) return;
  ReleaseCPUBytes(CountedSize(block));
  std::free(block);
}

}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size); }
void* operator new[](size_t size) { return AllocateOrThrow(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}

void operator delete(void* block) noexcept { Free(block); }
void operator delete[](void* block) noexcept { Free(block); }
void operator delete(void* block, size_t) noexcept { Free(block); }
void operator delete[](void* block, size_t) noexcept { Free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { Free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { Free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  Free(block);
}

#endif  // CAFFE2RT_CANNOT_REPLACE_NEW
