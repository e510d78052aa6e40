#pragma once
// ASYNC: the driver's stream-ordered pool (cudaMallocFromPoolAsync) behind the interface of
// contexts/pool. The driver caches and reuses memory; this class counts it, enforces the limit and
// detects invalid frees.

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

namespace caffe2rt {

// Owns a memory pool of the driver, created on first use. The pool keeps its memory (CUDA's default
// releases it at each synchronization) and never makes one stream wait for another. Allocate and
// Free work on the stream of the calling thread's StreamScope.
class CudaAsyncUpstream final : public CudaUpstream {
 public:
  explicit CudaAsyncUpstream(int device)
      : CudaUpstream(static_cast<size_t>(device), false), device_(device) {}
  void* Allocate(size_t nbytes) override;
  void Free(void* data, size_t nbytes) override;

  // Frees memory that could not be freed while its stream was captured for a graph.
  void FreeDeferred();

  // Allows kernels and copies of another device to access this memory.
  void GrantAccess(int peer);
  // Releases cached memory. Returns the number of bytes.
  size_t Trim();
  // The bytes that the driver's pool holds, in use or not.
  size_t ReservedBytes();

  class StreamScope {
   public:
    explicit StreamScope(CudaStream* stream);
    ~StreamScope();
    StreamScope(const StreamScope&) = delete;
    StreamScope& operator=(const StreamScope&) = delete;

   private:
    CudaStream* const previous_;
  };

 private:
  cudaMemPool_t DriverPool();
  // Returns false if the stream is being captured for a graph, which would replay the free.
  bool FreeOnStream(void* data, const CudaStream& stream);

  const int device_;
  Mutex mutex_;
  cudaMemPool_t pool_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::pair<void*, CudaStream*>> deferred_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_deferred_{false};
};

// Free makes the home stream wait for the other streams that used the block; the host waits only if
// CUDA cannot do that. Allocate THROWS if the device does not support memory pools.
std::unique_ptr<Pool> NewCudaAsyncPool(CudaAsyncUpstream& upstream,
                                       const DirectPoolOptions& options);

}  // namespace caffe2rt
