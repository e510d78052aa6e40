#pragma once
// What a pool knows about one block, and how a token leads to it. Internal to contexts/pool.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "contexts/pool/pool.h"

namespace caffe2rt::internal {

// A few stream numbers, each once. Takes memory of the host from the fifth on only: records change
// their blocks all the time, and a warm pool allocates nothing.
class StreamSet {
 public:
  void Insert(StreamIndex stream);
  void Clear() {
    count_ = 0;
    if (many_ != nullptr) many_->clear();
  }
  bool empty() const { return count_ == 0; }
  const StreamIndex* begin() const { return count_ <= kFew ? few_ : many_->data(); }
  const StreamIndex* end() const { return begin() + count_; }

 private:
  static constexpr uint32_t kFew = 4;
  StreamIndex few_[kFew] = {};
  uint32_t count_ = 0;
  std::unique_ptr<std::vector<StreamIndex>> many_;  // all of them, when they are more than kFew
};

// kWaiting: freed, and streams that used it still work. kCached: free, in a list.
enum class BlockState : uint8_t { kUnused, kInUse, kWaiting, kCached };

// Records are recycled and live as long as their pool, so that the token of a block that was freed
// long ago can still be judged. All members but `pool` are guarded by the pool's lock.
//
// Invariants: the record of a segment's first block stays the same for the life of the segment;
// before and after are the neighbours by address inside it, and have the same home.
struct alignas(128) BlockRecord {
  Pool* pool = nullptr;
  char* data = nullptr;
  size_t bytes = 0;
  size_t requested_bytes = 0;
  BlockRecord* before = nullptr;
  BlockRecord* after = nullptr;
  BlockRecord* previous = nullptr;  // in the list that the state names
  BlockRecord* next = nullptr;
  uint64_t sequence = 0;  // of the free, counted by home: see StreamOrder
  StreamSet uses;         // other streams than home
  StreamIndex home = 0;
  uint32_t generation = 0;  // how often the record was given out
  uint32_t waits = 0;       // events that have not fired
  BlockState state = BlockState::kUnused;
  bool small = false;
  void* event = nullptr;  // EventNode* of the CUB pool

  bool IsWholeSegment() const { return before == nullptr && after == nullptr; }
  void AddUse(StreamIndex stream);
};

// A token is the address of the record plus the low bits of the generation: it points into the
// record, and a token of an earlier giving out is found out (until 128 more have gone by).
inline constexpr uintptr_t kGenerations = alignof(BlockRecord);
static_assert(sizeof(BlockRecord) == kGenerations, "a token must point into its record");

inline void* TokenOf(BlockRecord* record) {
  return reinterpret_cast<char*>(record) + record->generation % kGenerations;
}
inline BlockRecord* RecordOf(void* token) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(token) % kGenerations;
  return reinterpret_cast<BlockRecord*>(static_cast<char*>(token) - offset);
}
inline uintptr_t GenerationOf(void* token) {
  return reinterpret_cast<uintptr_t>(token) % kGenerations;
}

// The records of one pool. Takes memory in slabs and gives none back. Not thread safe.
class BlockTable {
 public:
  explicit BlockTable(Pool* pool) : pool_(pool) {}
  // A record with default members, but its generation.
  BlockRecord* Take() {
    if (unused_ == nullptr) AddSlab();
    BlockRecord* const record = unused_;
    unused_ = record->next;
    record->next = nullptr;
    return record;
  }
  void Give(BlockRecord* record);

 private:
  void AddSlab();

  Pool* const pool_;
  BlockRecord* unused_ = nullptr;
  std::vector<std::unique_ptr<BlockRecord[]>> slabs_;
};

}  // namespace caffe2rt::internal
