#pragma once
// Where the pools of contexts/pool get CUDA's memory: one upstream for each device, and one for
// pinned memory of the host. Each numbers the streams that come to it, of any device, by itself.

#include <array>
#include <deque>
#include <mutex>

#include "contexts/cuda/cuda_stream.h"
#include "contexts/pool/upstream.h"

namespace caffe2rt {

// Streams and events of any upstream over CUDA. Thread safe; outlives its pool.
// Quiet when the runtime is being unloaded: nothing waits or is freed then.
class CudaUpstream : public Upstream {
 public:
  // The number of the host alone, in the upstream of pinned memory: what is given to it, is over.
  static constexpr StreamIndex kHostIndex = 0;

  CudaUpstream(const CudaUpstream&) = delete;
  CudaUpstream& operator=(const CudaUpstream&) = delete;

  // The number of a stream here: given on first use, then a load.
  StreamIndex IndexOf(CudaStream& stream) {
    const StreamIndex known = stream.upstream_index[slot_].load(std::memory_order_acquire);
    return __builtin_expect(known >= 0, 1) ? known : NumberStream(stream);
  }
  // REQUIRES: the index was given.
  CudaStream* StreamAt(StreamIndex index);
  std::vector<CudaStream*> Streams();

  Event CreateEvent() override;
  void DestroyEvent(Event event) noexcept override;
  void Record(Event event, StreamIndex stream) override;
  bool IsDone(Event event) override;
  void Synchronize(StreamIndex stream) override;

 protected:
  // `slot` of CudaStream::upstream_index. `has_host_index` keeps number 0 for the host.
  CudaUpstream(size_t slot, bool has_host_index);

 private:
  StreamIndex NumberStream(CudaStream& stream);

  const size_t slot_;
  std::mutex mutex_;
  std::deque<CudaStream*> streams_;  // null for the host
};

// cudaMalloc and cudaFree.
class CudaDeviceUpstream : public CudaUpstream {
 public:
  explicit CudaDeviceUpstream(int device)
      : CudaUpstream(static_cast<size_t>(device), false), device_(device) {}
  void* Allocate(size_t nbytes) override;
  void Free(void* data, size_t nbytes) override;
  int device() const { return device_; }

 private:
  const int device_;
};

// Pinned memory for all devices: of CUDA's (cudaHostAlloc), or pages of the calling thread's NUMA
// node that are made known to CUDA (cudaHostRegister).
class CudaPinnedUpstream final : public CudaUpstream {
 public:
  explicit CudaPinnedUpstream(bool on_node)
      : CudaUpstream(kCompileTimeMaxGpus, true), on_node_(on_node) {}
  void* Allocate(size_t nbytes) override;
  void Free(void* data, size_t nbytes) override;

 private:
  void* AllocateOnNode(size_t nbytes);
  const bool on_node_;
};

}  // namespace caffe2rt
