#include "tests/support/allocation_counter.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/support/failing_allocations.h"

namespace caffe2rt::test {
namespace {

thread_local AllocationCounts counts;  // plain data: usable before and after any constructor

// The code of the libraries whose calls are counted separately. The first AllocationCounter fills
// this; counts before it are never read.
struct CodeRange {
  uintptr_t begin;
  uintptr_t end;
};
constexpr int kMaxRanges = 8;
CodeRange ranges[kMaxRanges];
std::atomic<int> num_ranges{0};

int CollectRanges(dl_phdr_info* info, size_t, void*) {
  if (std::strstr(info->dlpi_name, "libdnnl") == nullptr &&
      std::strstr(info->dlpi_name, "libgomp") == nullptr) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const int n = num_ranges.load();
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || n == kMaxRanges) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    ranges[n] = {begin, begin + segment.p_memsz};
    num_ranges.store(n + 1);
  }
  return 0;
}

[[maybe_unused]] void Count(int64_t AllocationCounts::*member, const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const int n = num_ranges.load(std::memory_order_relaxed);
  for (int i = 0; i < n; ++i) {
    if (address >= ranges[i].begin && address < ranges[i].end) {
      ++counts.in_libraries;
      return;
    }
  }
  ++(counts.*member);
}

}  // namespace

#ifdef CAFFE2RT_SANITIZED
const bool AllocationCounter::kCounts = false;
#else
const bool AllocationCounter::kCounts = true;
#endif

AllocationCounter::AllocationCounter() {
  static const int collected = dl_iterate_phdr(CollectRanges, nullptr);
  (void)collected;
  start_ = counts;
}

AllocationCounts AllocationCounter::Counts() const {
  return {counts.allocations - start_.allocations, counts.locks - start_.locks,
          counts.in_libraries - start_.in_libraries};
}

}  // namespace caffe2rt::test

#ifndef CAFFE2RT_SANITIZED

using caffe2rt::test::AllocationCounts;
using caffe2rt::test::AllocationFails;
using caffe2rt::test::Count;

#define CAFFE2RT_COUNT_ALLOCATION()                                   \
  Count(&AllocationCounts::allocations, __builtin_return_address(0)); \
  const bool fails = AllocationFails(__builtin_return_address(0), true)
#define CAFFE2RT_COUNTED_LOCK(name, Type)                                   \
  int name(Type* lock) noexcept {                                           \
    static std::atomic<int (*)(Type*)> next{nullptr};                       \
    Count(&AllocationCounts::locks, __builtin_return_address(0));           \
    int (*function)(Type*) = next.load(std::memory_order_relaxed);          \
    if (__builtin_expect(function == nullptr, 0)) {                         \
      function = reinterpret_cast<int (*)(Type*)>(dlsym(RTLD_NEXT, #name)); \
      next.store(function, std::memory_order_relaxed);                      \
    }                                                                       \
    return function(lock);                                                  \
  }

extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  return fails ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  return fails ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* pointer, size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  return fails ? nullptr : __libc_realloc(pointer, size);
}
void* memalign(size_t alignment, size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  return fails ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  return fails ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, size_t alignment, size_t size) {
  CAFFE2RT_COUNT_ALLOCATION();
  void* memory = fails ? nullptr : __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *pointer = memory;
  return 0;
}

CAFFE2RT_COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
CAFFE2RT_COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
CAFFE2RT_COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)

}  // extern "C"

namespace {

void* CountedNew(size_t size, size_t alignment, const void* caller) {
  Count(&AllocationCounts::allocations, caller);
  if (AllocationFails(caller, false)) return nullptr;
  void* memory = alignment == 0 ? __libc_malloc(size == 0 ? 1 : size)
                                : __libc_memalign(alignment, size == 0 ? 1 : size);
  return memory;
}

void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) {
  return OrThrow(CountedNew(size, 0, __builtin_return_address(0)));
}
void* operator new[](size_t size) {
  return OrThrow(CountedNew(size, 0, __builtin_return_address(0)));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return OrThrow(CountedNew(size, static_cast<size_t>(alignment), __builtin_return_address(0)));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return OrThrow(CountedNew(size, static_cast<size_t>(alignment), __builtin_return_address(0)));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return CountedNew(size, 0, __builtin_return_address(0));
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return CountedNew(size, 0, __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

#endif  // CAFFE2RT_SANITIZED
