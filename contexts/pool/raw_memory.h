#pragma once
// Pool memory for callers that have only its address when they free it.
//
// This is the only class that looks addresses up. A MemoryDeleter with the block's token needs no
// look-up, so use a Pool directly where possible.

#include <cstddef>
#include <unordered_map>

#include "caffe2_core/base/mutex.h"
#include "contexts/pool/pool.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Thread safe. The pool must outlive it. Memory that was never freed stays in use.
class RawMemory {
 public:
  explicit RawMemory(Pool& pool) : pool_(pool) {}
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;

  // Returns null for 0 bytes. THROWS as Pool::Allocate does.
  [[nodiscard]] void* Allocate(size_t nbytes, StreamIndex stream);
  // As Pool::Free; does nothing for null. THROWS if `data` was freed before or is not from this
  // object.
  void Free(void* data, StreamIndex stream);

 private:
  Pool& pool_;
  Mutex mutex_;
  std::unordered_map<void*, PoolBlock> blocks_ ABSL_GUARDED_BY(mutex_);  // in use
};

}  // namespace caffe2rt
#pragma GCC visibility pop
