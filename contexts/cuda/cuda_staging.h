#pragma once
// The pinned memory of a stream through which pageable memory is copied: two buffers, one of which
// is filled while the stream empties the other.
//
//   const MutexLock lock(stream.staging.mutex());
//   char* const piece = stream.staging.Take(nbytes, stream);   // 64-byte aligned
//   ... fill it and enqueue the copy from it, before the lock is released ...
//
// Take waits only if both buffers are full and the stream has not yet copied their pieces. If the
// stream fills the piece, keep the lock until the host has read it.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "caffe2_core/base/mutex.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct CudaStream;

class CudaStaging {
 public:
  // The maximum size of a piece.
  static constexpr size_t kBytes = size_t{4} << 20;

  CudaStaging() = default;
  CudaStaging(const CudaStaging&) = delete;
  CudaStaging& operator=(const CudaStaging&) = delete;

  // Hold it from Take until the piece's copy is enqueued on the stream.
  Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  // Returns `nbytes` bytes that belong to the caller until the stream has finished the work that is
  // enqueued on it before the mutex is released. The first call allocates both buffers, which live
  // as long as the stream.
  // REQUIRES: nbytes <= kBytes; always the same stream, which is not being captured.
  // THROWS CUDA's errors; nothing is then taken.
  char* Take(size_t nbytes, const CudaStream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

 private:
  struct Buffer {
    char* data = nullptr;
    cudaEvent_t passed = nullptr;  // recorded behind the last piece when the buffer became full
    size_t used = 0;
    bool is_full = false;
  };
  void Allocate(const CudaStream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::array<Buffer, 2> buffers_ ABSL_GUARDED_BY(mutex_);
  size_t current_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
