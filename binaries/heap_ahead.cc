#include "binaries/heap_ahead.h"

#include <cstdlib>

#include "caffe2_core/base/release_pages.h"

namespace caffe2rt {
namespace {

// The compiler must not remove a pair of malloc and free.
void* Allocate(size_t bytes) {
  void* volatile block = std::malloc(bytes);
  return block;
}

}  // namespace

void MapHeapAhead(size_t bytes) {
  // malloc maps a large block apart from the heap. When it is freed, malloc takes that for the size of
  // temporary memory, and keeps as much in the heap from then on: the second block is there.
  std::free(Allocate(2 * bytes));
  void* const block = Allocate(bytes);
  if (block != nullptr) MapPages(block, bytes);
  std::free(block);
}

}  // namespace caffe2rt
