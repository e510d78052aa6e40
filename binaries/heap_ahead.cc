#include "binaries/heap_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace caffe2rt {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

// The compiler must not remove a pair of malloc and free.
void* Allocate(size_t bytes) {
  void* volatile block = std::malloc(bytes);
  return block;
}

}  // namespace

void MapHeapAhead(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // malloc maps a block of this size apart from the heap. When it is freed, malloc takes that for the
  // size of temporary memory, and keeps as much in the heap from then on.
  std::free(Allocate(bytes));
  void* const block = Allocate(bytes - page);
  if (block == nullptr) return;
  const auto first = (reinterpret_cast<uintptr_t>(block) + page - 1) / page * page;
  const auto last = (reinterpret_cast<uintptr_t>(block) + bytes - page) / page * page;
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, kPopulateWrite);
  std::free(block);
}

}  // namespace caffe2rt
