#pragma once
// ASYNC: the driver's stream-ordered pool (cudaMallocFromPoolAsync) behind the interface of
// contexts/pool. The driver caches and reuses; this counts, limits and judges frees.

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

namespace caffe2rt {

// A pool of the driver's of its own, made on first use: it keeps its memory (CUDA's default gives
// it back at each wait), and never makes one stream wait for another.
// Allocate and Free work on the stream that the calling thread's StreamScope names.
class CudaAsyncUpstream final : public CudaUpstream {
 public:
  explicit CudaAsyncUpstream(int device)
      : CudaUpstream(static_cast<size_t>(device), false), device_(device) {}
  void* Allocate(size_t nbytes) override;
  void Free(void* data, size_t nbytes) override;

  // Frees what could not be freed while its stream was recorded for a graph.
  void FreeDeferred();

  // Lets kernels and copies of another device reach this memory.
  void GrantAccess(int peer);
  // Gives cached memory back. Returns the bytes.
  size_t Trim();
  // What the driver holds, in use or not.
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
  // False when the stream is recorded for a graph, which would replay the free.
  bool FreeOnStream(void* data, const CudaStream& stream);

  const int device_;
  std::mutex mutex_;
  cudaMemPool_t pool_ = nullptr;
  std::vector<std::pair<void*, CudaStream*>> deferred_;
  std::atomic<bool> has_deferred_{false};
};

// Free lets the home stream wait for the others that used the block; the host never waits.
// Allocate THROWS a clear error where the device has no such pools.
std::unique_ptr<Pool> NewCudaAsyncPool(CudaAsyncUpstream& upstream,
                                       const DirectPoolOptions& options);

}  // namespace caffe2rt
