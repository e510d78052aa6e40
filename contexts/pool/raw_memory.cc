#include "contexts/pool/raw_memory.h"

namespace caffe2rt {

void* RawMemory::Allocate(size_t nbytes, StreamIndex stream) {
  const PoolBlock block = pool_.Allocate(nbytes, stream);
  if (block.data == nullptr) return nullptr;
  try {
    const MutexLock lock(mutex_);
    blocks_.emplace(block.data, block);
  } catch (...) {
    pool_.Free(block, stream);
    throw;
  }
  return block.data;
}

void RawMemory::Free(void* data, StreamIndex stream) {
  if (data == nullptr) return;
  PoolBlock block;
  {
    // Remove the entry before freeing the block: the pool may reuse the address at once.
    const MutexLock lock(mutex_);
    if (const auto found = blocks_.find(data); found != blocks_.end()) {
      block = found->second;
      blocks_.erase(found);
    }
  }
  if (block.data == nullptr) {
    CAFFE_ENFORCE(!pool_.Owns(data), "pointer ", data,
                  " lies in the pool and is not the start of memory in use: it was freed before");
    CAFFE_THROW("pointer ", data, " does not belong to this pool, want one that Allocate returned");
  }
  pool_.Free(block, stream);
}

}  // namespace caffe2rt
