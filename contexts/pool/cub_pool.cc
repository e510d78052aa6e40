// Caffe2's pool CUB. It has the policy of cub::CachingDeviceAllocator: sizes are rounded up to
// powers of bin_growth, blocks are never split, and an event is recorded at every free. A cached
// block is ready for a stream when the events of all other streams that used it have fired; an
// allocation takes the first ready block of its bin, at a cost linear in the blocks of the bin.
// Events are recorded under the lock, so that no thread finds a block in the cache without its
// events.
#include <limits>

#include "contexts/pool/free_lists.h"
#include "contexts/pool/tracked_pool.h"

namespace caffe2rt {
namespace internal {
namespace {

// A cached block keeps its events in `event`, the event of its home first. The list of a bin is in
// the order of frees.
class CubPool final : public TrackedPool {
 public:
  CubPool(Upstream& upstream, const CubPoolOptions& options)
      : TrackedPool(upstream, "cub", options.device, options.limit_bytes),
        max_cached_bytes_(options.max_cached_bytes) {
    CAFFE_ENFORCE_GE(options.bin_growth, 2u, "bin_growth of pool cub");
    CAFFE_ENFORCE_LE(options.min_bin, options.max_bin, "min_bin and max_bin of pool cub");
    size_t bytes = 1;
    for (unsigned power = 0; power <= options.max_bin; ++power) {
      if (power >= options.min_bin) bins_.push_back({bytes, nullptr, nullptr});
      CAFFE_ENFORCE(power == options.max_bin ||
                        !__builtin_mul_overflow(bytes, size_t{options.bin_growth}, &bytes),
                    "max_bin ", options.max_bin, " of pool cub is beyond 64 bits");
    }
  }

  PoolBlock Allocate(size_t nbytes, StreamIndex stream) override {
    if (nbytes == 0) return {};
    CheckStream(stream, false);
    const MutexLock lock(mutex_);
    Bin* const bin = BinOf(nbytes);
    const size_t bytes = bin != nullptr ? bin->bytes : RoundUp(nbytes, kBlockGranule);
    BlockRecord* record = bin != nullptr ? FindCached(*bin, stream) : nullptr;
    if (record != nullptr) {
      Uncache(*bin, record);
      record->uses.Clear();
      record->home = stream;
    } else {
      record = NewSegmentOrThrow(bytes, stream, nbytes);
    }
    return HandOut(record, nbytes);
  }

  void Free(const PoolBlock& block, StreamIndex stream) override {
    if (block.data == nullptr) return;
    CheckStream(stream, true);
    const MutexLock lock(mutex_);
    BlockRecord* const record = Claim(block);
    TakeBack(record, stream);
    Bin* const bin = BinOf(record->bytes);
    if (bin != nullptr && bin->bytes == record->bytes &&
        record->bytes <= max_cached_bytes_ - cached_bytes_ && RecordEvents(record)) {
      Cache(*bin, record);
    } else {
      GiveBack({RemoveSegment(record)});
    }
  }

  size_t ReleaseCached() override {
    const MutexLock lock(mutex_);
    return GiveBackCached();
  }

 private:
  struct Bin {
    size_t bytes;
    BlockRecord* first;
    BlockRecord* last;
  };

  // Returns the smallest bin whose blocks are large enough, or null if there is none.
  Bin* BinOf(size_t nbytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (Bin& bin : bins_) {
      if (nbytes <= bin.bytes) return &bin;
    }
    return nullptr;
  }

  bool IsReady(const BlockRecord& record, StreamIndex stream) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto* node = static_cast<const EventNode*>(record.event);
    if (record.home == stream) node = node->next;
    for (; node != nullptr; node = node->next) {
      if (!events_.IsDone(*node)) return false;
    }
    return true;
  }

  BlockRecord* FindCached(const Bin& bin, StreamIndex stream) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    BlockRecord* record = bin.first;
    while (record != nullptr && !IsReady(*record, stream)) record = record->next;
    return record;
  }

  // Returns false if the device cannot create or record an event; the block must then be returned
  // to the upstream.
  bool RecordEvents(BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    EventNode* const first = events_.Record(record->home);
    record->event = first;
    EventNode* last = first;
    for (const StreamIndex use : record->uses) {
      if (last == nullptr) break;
      last->next = events_.Record(use);
      last = last->next;
    }
    if (last != nullptr) return true;
    GiveEvents(record);
    return false;
  }

  void GiveEvents(BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto* node = static_cast<EventNode*>(record->event); node != nullptr;) {
      EventNode* const next = node->next;
      events_.Give(node);
      node = next;
    }
    record->event = nullptr;
  }

  void Cache(Bin& bin, BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    record->state = BlockState::kCached;
    record->previous = bin.last;
    record->next = nullptr;
    (bin.last != nullptr ? bin.last->next : bin.first) = record;
    bin.last = record;
    cached_bytes_ += record->bytes;
  }

  void Uncache(Bin& bin, BlockRecord* record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    (record->previous != nullptr ? record->previous->next : bin.first) = record->next;
    (record->next != nullptr ? record->next->previous : bin.last) = record->previous;
    record->previous = record->next = nullptr;
    GiveEvents(record);
    cached_bytes_ -= record->bytes;
  }

  // Releases the mutex temporarily.
  size_t GiveBackCached() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<Extent> extents;
    const size_t bytes = cached_bytes_;
    for (Bin& bin : bins_) {
      while (bin.first != nullptr) {
        BlockRecord* const record = bin.first;
        Uncache(bin, record);
        extents.push_back(RemoveSegment(record));
      }
    }
    GiveBack(extents);
    return bytes;
  }

  void MakeRoom() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { GiveBackCached(); }
  size_t LargestFree() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    size_t bytes = 0;
    for (const Bin& bin : bins_) {
      if (bin.first != nullptr) bytes = bin.bytes;
    }
    return bytes;
  }

  void CheckLists() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    size_t listed = 0, cached = 0;
    for (const Bin& bin : bins_) {
      for (const BlockRecord* record = bin.first; record != nullptr; record = record->next) {
        CAFFE_ENFORCE(record->state == BlockState::kCached, "a block in a bin is not cached");
        CAFFE_ENFORCE_EQ(record->bytes, bin.bytes, "bytes of a block and of its bin");
        listed += record->bytes;
      }
    }
    for (const auto& [data, record] : segments_) {
      CAFFE_ENFORCE(record->IsWholeSegment(), "a block of pool cub has been split");
      if (record->state == BlockState::kCached) cached += record->bytes;
    }
    CAFFE_ENFORCE_EQ(listed, cached, "bytes of cached blocks in all bins");
    CAFFE_ENFORCE_EQ(listed, cached_bytes_, "bytes of cached blocks");
  }

  const size_t max_cached_bytes_;
  std::vector<Bin> bins_ ABSL_GUARDED_BY(mutex_);
  size_t cached_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace
}  // namespace internal

std::unique_ptr<Pool> NewCubPool(Upstream& upstream, const CubPoolOptions& options) {
  return std::make_unique<internal::CubPool>(upstream, options);
}

}  // namespace caffe2rt
