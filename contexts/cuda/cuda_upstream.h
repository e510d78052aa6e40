#pragma once
// The upstreams through which the pools of contexts/pool allocate CUDA memory: one for each device,
// and one for pinned host memory. Each upstream numbers the streams that use it, of any device,
// independently of the others.

#include <array>
#include <deque>

#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_stream.h"
#include "contexts/pool/upstream.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Streams and events of every upstream over CUDA. Thread safe; it must outlive its pool. While the
// runtime is being unloaded, it neither waits nor frees, and reports no errors.
class CudaUpstream : public Upstream {
 public:
  // In the upstream of pinned memory, the number that represents the host. Its work is always over.
  static constexpr StreamIndex kHostIndex = 0;

  CudaUpstream(const CudaUpstream&) = delete;
  CudaUpstream& operator=(const CudaUpstream&) = delete;

  // Returns the number of a stream in this upstream. Assigned on first use; after that, one load.
  StreamIndex IndexOf(CudaStream& stream) {
    const StreamIndex known = stream.upstream_index[slot_].load(std::memory_order_acquire);
    return __builtin_expect(known >= 0, 1) ? known : NumberStream(stream);
  }
  // THROWS if IndexOf has not returned this index.
  CudaStream* StreamAt(StreamIndex index);
  std::vector<CudaStream*> Streams();

  Event CreateEvent() override;
  void DestroyEvent(Event event) noexcept override;
  void Record(Event event, StreamIndex stream) override;
  bool IsDone(Event event) override;
  void Synchronize(StreamIndex stream) override;

 protected:
  // `slot` is the index into CudaStream::upstream_index. `has_host_index` reserves number 0 for the
  // host.
  CudaUpstream(size_t slot, bool has_host_index);

 private:
  StreamIndex NumberStream(CudaStream& stream);

  const size_t slot_;
  Mutex mutex_;
  std::deque<CudaStream*> streams_ ABSL_GUARDED_BY(mutex_);  // null for the host
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

// Pinned memory for all devices: allocated by CUDA (cudaHostAlloc), or pages on the calling
// thread's NUMA node that are registered with CUDA (cudaHostRegister).
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
#pragma GCC visibility pop
