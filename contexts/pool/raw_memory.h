#pragma once
// Memory of a pool for callers that have nothing but its address when they free it.
//
// The one place that looks addresses up. Memory that frees itself (MemoryDeleter with the block's
// token) costs no look-up: use a Pool where the choice is yours.

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "contexts/pool/pool.h"

namespace caffe2rt {

// Thread safe. The pool outlives it. Memory that was never freed stays in use.
class RawMemory {
 public:
  explicit RawMemory(Pool& pool) : pool_(pool) {}
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;

  // Null for 0 bytes. THROWS as Pool::Allocate does.
  [[nodiscard]] void* Allocate(size_t nbytes, StreamIndex stream);
  // As Pool::Free; null is fine. THROWS for what was freed before, and for pointers of others.
  void Free(void* data, StreamIndex stream);

 private:
  Pool& pool_;
  std::mutex mutex_;
  std::unordered_map<void*, PoolBlock> blocks_;  // in use
};

}  // namespace caffe2rt
