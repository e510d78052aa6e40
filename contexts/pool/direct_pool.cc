// Caffe2's pool NONE: every call goes to the upstream, which waits for work that uses freed memory.
#include "contexts/pool/free_lists.h"
#include "contexts/pool/tracked_pool.h"

namespace caffe2rt {
namespace internal {
namespace {

class DirectPool final : public TrackedPool {
 public:
  DirectPool(Upstream& upstream, const DirectPoolOptions& options)
      : TrackedPool(upstream, "none", options.device, options.limit_bytes) {}

  PoolBlock Allocate(size_t nbytes, StreamIndex stream) override {
    if (nbytes == 0) return {};
    CheckStream(stream, false);
    const size_t bytes = RoundUp(nbytes, kBlockGranule);
    const MutexLock lock(mutex_);
    return HandOut(NewSegmentOrThrow(bytes, stream, nbytes), nbytes);
  }

  void Free(const PoolBlock& block, StreamIndex stream) override {
    if (block.data == nullptr) return;
    CheckStream(stream, true);
    const MutexLock lock(mutex_);
    BlockRecord* const record = Claim(block);
    TakeBack(record, stream);
    GiveBack({RemoveSegment(record)});
  }

  size_t ReleaseCached() override { return 0; }

 private:
  size_t LargestFree() const override { return 0; }
  void CheckLists() const override {}
};

}  // namespace
}  // namespace internal

std::unique_ptr<Pool> NewDirectPool(Upstream& upstream, const DirectPoolOptions& options) {
  return std::make_unique<internal::DirectPool>(upstream, options);
}

}  // namespace caffe2rt
