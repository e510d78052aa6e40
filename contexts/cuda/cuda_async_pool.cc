#include "contexts/cuda/cuda_async_pool.h"

#include <exception>

#include "caffe2_core/base/byte_size.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/pool/free_lists.h"
#include "contexts/pool/tracked_pool.h"

namespace caffe2rt {
namespace {

thread_local CudaStream* scope_stream = nullptr;

// Each segment is one block. A freed block returns to the driver at once: Free makes the home
// stream wait for the other streams that used it, and then frees it in order on the home stream.
class AsyncPool final : public internal::TrackedPool {
 public:
  AsyncPool(CudaAsyncUpstream& upstream, const DirectPoolOptions& options)
      : TrackedPool(upstream, "async", options.device, options.limit_bytes), driver_(upstream) {}

  PoolBlock Allocate(size_t nbytes, StreamIndex stream) override {
    if (nbytes == 0) return {};
    CheckStream(stream, false);
    const CudaAsyncUpstream::StreamScope scope(driver_.StreamAt(stream));
    const size_t bytes = RoundUp(nbytes, internal::kBlockGranule);
    const MutexLock lock(mutex_);
    if (!waiting_.empty()) GiveWaiting();
    return HandOut(NewSegmentOrThrow(bytes, stream, nbytes), nbytes);
  }

  void Free(const PoolBlock& block, StreamIndex stream) override {
    if (block.data == nullptr) return;
    CheckStream(stream, true);
    const MutexLock lock(mutex_);
    internal::BlockRecord* const record = Claim(block);
    TakeBack(record, stream);
    if (JoinUses(record)) {
      GiveToDriver(record);
    } else {
      record->state = internal::BlockState::kWaiting;
      waiting_.push_back(record);
    }
  }

  size_t ReleaseCached() override {
    const size_t count = driver_.Streams().size();
    for (size_t i = 0; i < count; ++i) driver_.Synchronize(static_cast<StreamIndex>(i));
    {
      const MutexLock lock(mutex_);
      GiveWaiting();
    }
    driver_.FreeDeferred();
    return driver_.Trim();
  }

  PoolStatistics Statistics() const override {
    PoolStatistics statistics = TrackedPool::Statistics();
    statistics.reserved_bytes = std::max(driver_.ReservedBytes(), statistics.in_use_bytes);
    statistics.cached_bytes = statistics.reserved_bytes - statistics.in_use_bytes;
    statistics.peak_reserved_bytes =
        std::max(statistics.peak_reserved_bytes, statistics.reserved_bytes);
    return statistics;
  }

 private:
  // The driver may fail while freed memory is still in use by pending work: waits for it.
  void MakeRoom() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const MutexUnlock unlocked(mutex_);
    ReleaseCached();
  }

  // Makes the home stream wait for the streams that use the block. Returns false if CUDA fails; a
  // device error is reported by the next call that can throw.
  bool JoinUses(internal::BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    try {
      const CudaStream& home = *driver_.StreamAt(record->home);
      for (const StreamIndex use : record->uses) Join(home, use);
    } catch (const EnforceNotMet&) {
      return false;
    }
    record->uses.Clear();
    return true;
  }

  // Releases the mutex temporarily.
  void GiveToDriver(internal::BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const CudaAsyncUpstream::StreamScope scope(driver_.StreamAt(record->home));
    GiveBack({RemoveSegment(record)});
  }

  // Retries the blocks whose JoinUses failed. Releases the mutex temporarily.
  void GiveWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t count = waiting_.size(); count > 0 && !waiting_.empty(); --count) {
      internal::BlockRecord* const record = waiting_.back();
      if (!JoinUses(record)) return;
      waiting_.pop_back();
      GiveToDriver(record);
    }
  }

  // Makes the home stream wait for the other stream's work so far. If CUDA fails, the host waits.
  void Join(const CudaStream& home, StreamIndex other) {
    if (CudaIsUnloading()) return;
    try {
      WaitForStream(home, *driver_.StreamAt(other));
    } catch (const CudaError&) {
      driver_.Synchronize(other);
    }
  }

  size_t LargestFree() const override { return 0; }
  void CheckLists() const override {}

  CudaAsyncUpstream& driver_;
  // Freed blocks whose JoinUses failed.
  std::vector<internal::BlockRecord*> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CudaAsyncUpstream::StreamScope::StreamScope(CudaStream* stream) : previous_(scope_stream) {
  scope_stream = stream;
}
CudaAsyncUpstream::StreamScope::~StreamScope() { scope_stream = previous_; }

cudaMemPool_t CudaAsyncUpstream::DriverPool() {
  const MutexLock lock(mutex_);
  if (pool_ != nullptr) return pool_;
  CAFFE_ENFORCE(GetDeviceAttribute(device_, cudaDevAttrMemoryPoolsSupported) != 0, "CUDA device ",
                device_,
                " does not support memory pools of the driver; choose a pool other than "
                "async");
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device_;
  cudaMemPool_t pool = nullptr;
  CUDA_ENFORCE(cudaMemPoolCreate(&pool, &properties), "device ", device_);
  uint64_t keep = UINT64_MAX;
  int no = 0;
  CUDA_ENFORCE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CUDA_ENFORCE(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &no));
  return pool_ = pool;
}

void* CudaAsyncUpstream::Allocate(size_t nbytes) {
  CAFFE_ENFORCE(scope_stream != nullptr, "allocation from the driver's pool without a StreamScope");
  EnforceNotRecording("device memory is allocated");
  if (has_deferred_.load(std::memory_order_relaxed)) FreeDeferred();
  AvoidNewCudaContext(device_);
  void* data = nullptr;
  const cudaError_t code =
      cudaMallocFromPoolAsync(&data, nbytes, DriverPool(), scope_stream->stream);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  CUDA_ENFORCE(code, ByteSizeText(nbytes), " of device ", device_);
  return data;
}

void CudaAsyncUpstream::Free(void* data, size_t) {
  if (CudaIsUnloading()) return;
  if (has_deferred_.load(std::memory_order_relaxed)) FreeDeferred();
  if (scope_stream == nullptr) {  // called by the pool's destructor: cudaFree waits
    const cudaError_t code = cudaFree(data);
    if (code != cudaErrorCudartUnloading) CUDA_ENFORCE(code, "memory of device ", device_);
    return;
  }
  if (FreeOnStream(data, *scope_stream)) return;
  const MutexLock lock(mutex_);
  deferred_.emplace_back(data, scope_stream);
  has_deferred_.store(true, std::memory_order_relaxed);
}

bool CudaAsyncUpstream::FreeOnStream(void* data, const CudaStream& stream) {
  AvoidNewCudaContext(device_);
  cudaError_t code = cudaSuccess;
  {
    const MutexLock lock(stream.capture.mutex);
    if (stream.capture.active) return false;
    code = cudaFreeAsync(data, stream.stream);
  }
  if (code == cudaErrorCudartUnloading) {
    LogCudaError(code, "cudaFreeAsync");
  } else {
    CUDA_ENFORCE(code, "memory of device ", device_);
  }
  return true;
}

void CudaAsyncUpstream::FreeDeferred() {
  std::vector<std::pair<void*, CudaStream*>> deferred;
  {
    const MutexLock lock(mutex_);
    deferred.swap(deferred_);
    has_deferred_.store(false, std::memory_order_relaxed);
  }
  std::erase_if(deferred, [this](const auto& d) { return FreeOnStream(d.first, *d.second); });
  if (deferred.empty()) return;
  const MutexLock lock(mutex_);
  deferred_.insert(deferred_.end(), deferred.begin(), deferred.end());
  has_deferred_.store(true, std::memory_order_relaxed);
}

void CudaAsyncUpstream::GrantAccess(int peer) {
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = peer;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUDA_ENFORCE(cudaMemPoolSetAccess(DriverPool(), &access, 1), "device ", device_, ", peer ", peer);
}

size_t CudaAsyncUpstream::Trim() {
  if (CudaIsUnloading()) return 0;
  const size_t before = ReservedBytes();
  CUDA_ENFORCE(cudaMemPoolTrimTo(DriverPool(), 0), "device ", device_);
  const size_t after = ReservedBytes();
  return before > after ? before - after : 0;
}

size_t CudaAsyncUpstream::ReservedBytes() {
  if (CudaIsUnloading()) return 0;
  uint64_t bytes = 0;
  CUDA_ENFORCE(cudaMemPoolGetAttribute(DriverPool(), cudaMemPoolAttrReservedMemCurrent, &bytes),
               "device ", device_);
  return static_cast<size_t>(bytes);
}

std::unique_ptr<Pool> NewCudaAsyncPool(CudaAsyncUpstream& upstream,
                                       const DirectPoolOptions& options) {
  return std::make_unique<AsyncPool>(upstream, options);
}

}  // namespace caffe2rt
