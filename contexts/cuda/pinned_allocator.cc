#include "contexts/cuda/pinned_allocator.h"

#include <atomic>
#include <exception>

#include "caffe2_core/base/logging.h"
#include "contexts/cuda/cuda_allocator.h"

namespace caffe2rt {
namespace {

std::atomic<bool> is_used{false};

struct Pinned {
  CudaPinnedUpstream upstream{GlobalCudaMemoryOptions().pinned_numa};
  std::unique_ptr<Pool> pool;
};

Pinned& ThePinned() {
  static Pinned* const pinned = [] {
    auto made = std::make_unique<Pinned>();
    ThcPoolOptions options;
    options.device = "pinned memory";
    // Release no memory to the system before it is short, because that waits for every device.
    options.growth_slack_bytes = SIZE_MAX / 4;
    made->pool = NewThcPool(made->upstream, options);
    is_used.store(true, std::memory_order_release);
    return made.release();
  }();
  return *pinned;
}

void FreePinned(void* data, void* token) noexcept {
  if (CudaIsUnloading() || CudaIsLostByFork()) return;
  try {
    Pinned& pinned = ThePinned();
    for (CudaStream* stream : pinned.upstream.Streams()) {
      if (stream == nullptr || !stream->has_host_copies.load(std::memory_order_acquire)) continue;
      pinned.pool->RecordUse({data, token}, pinned.upstream.IndexOf(*stream));
    }
  } catch (const std::exception& e) {
    LOG(ERROR) << "pinned memory: " << e.what();
    return;  // leak the block: reusing it too early would be worse
  }
  FreePoolBlock(data, token, kNoStream);
}

}  // namespace

bool PinnedPoolIsUsed() { return is_used.load(std::memory_order_acquire); }
Pool& PinnedPool() { return *ThePinned().pool; }
CudaUpstream& PinnedUpstream() { return ThePinned().upstream; }

std::pair<void*, MemoryDeleter> PinnedCPUAllocator::New(size_t nbytes) {
  const PoolBlock block = PinnedPool().Allocate(nbytes, CudaUpstream::kHostIndex);
  return {block.data, {&FreePinned, block.token}};
}

MemoryDeleter PinnedCPUAllocator::GetDeleter() {
  CAFFE_THROW("pinned memory is freed by the deleter that New returned");
}

}  // namespace caffe2rt
