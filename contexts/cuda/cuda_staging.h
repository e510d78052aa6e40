#pragma once
// Pinned memory of a stream through which pageable memory is copied: two buffers, of which one is
// filled while the stream empties the other.
//
//   std::lock_guard lock(stream.staging.mutex());
//   char* const piece = stream.staging.Take(nbytes, stream);   // 64-byte aligned
//   ... fill it and put the copy from it on the stream, before the lock goes ...
//
// The host waits only where both buffers are full of pieces that the stream has not passed yet.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <mutex>

namespace caffe2rt {

struct CudaStream;

class CudaStaging {
 public:
  // The most that one piece may have.
  static constexpr size_t kBytes = size_t{4} << 20;

  CudaStaging() = default;
  CudaStaging(const CudaStaging&) = delete;
  CudaStaging& operator=(const CudaStaging&) = delete;

  // Held from Take until the piece's copy is on the stream.
  std::mutex& mutex() { return mutex_; }
  // `nbytes` that are the caller's until the stream has passed what it is given before the mutex
  // goes. The first call allocates both buffers, which live as long as the stream. REQUIRES: at
  // most kBytes, always the same stream, which is not recorded. THROWS what CUDA says, with nothing
  // taken.
  char* Take(size_t nbytes, const CudaStream& stream);

 private:
  struct Buffer {
    char* data = nullptr;
    cudaEvent_t passed = nullptr;  // behind the last piece, since `is_full`
    size_t used = 0;
    bool is_full = false;
  };
  void Allocate(const CudaStream& stream);

  std::mutex mutex_;
  std::array<Buffer, 2> buffers_;
  size_t current_ = 0;
};

}  // namespace caffe2rt
