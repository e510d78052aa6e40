// Replaces operator new and delete of a program, so that all heap allocations of C++ code count
// against the memory budget (memory_budget.h). It is not part of the library but an object library
// for programs, caffe2rt_counted_new. Allocations of libstdc++, protobuf and LevelDB count too,
// because a definition in the program takes precedence over those in shared libraries.
//
// Every block counts with its real size and the allocator's header, so that many small blocks
// cannot exceed the limit unnoticed. Under TSAN, a program cannot replace these functions, and
// nothing is counted.

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

// Small blocks may exceed the limit by kHeadroomBytes, so that there is memory for the message of
// the error. While an exception is handled they may exceed it by more, because other small blocks
// may have used up the first headroom.
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
  // Do not request a large block from the system if it would exceed the budget.
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
