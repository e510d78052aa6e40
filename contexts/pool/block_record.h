#pragma once
// A pool's record of one block, and how a token identifies it. Internal to contexts/pool.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "contexts/pool/pool.h"

namespace caffe2rt::internal {

// A set of stream numbers. It allocates host memory only from the fifth number on and keeps that
// memory when cleared, so that a warm pool does not allocate.
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
  std::unique_ptr<std::vector<StreamIndex>> many_;  // all of them if there are more than kFew
};

// kWaiting: freed, but streams that used it may still work on it. kCached: free and in a list.
enum class BlockState : uint8_t { kUnused, kInUse, kWaiting, kCached };

// Records are recycled and live as long as their pool, so that a token can be checked long after
// its block was freed. All members except `pool` are guarded by the pool's mutex.
//
// Invariants: the record of a segment's first block stays the same for the life of the segment;
// `before` and `after` are the neighbours by address in the segment and have the same home.
struct alignas(128) BlockRecord {
  Pool* pool = nullptr;
  char* data = nullptr;
  size_t bytes = 0;
  size_t requested_bytes = 0;
  BlockRecord* before = nullptr;
  BlockRecord* after = nullptr;
  BlockRecord* previous = nullptr;  // links of the free list or of BlockTable's unused records
  BlockRecord* next = nullptr;
  uint64_t sequence = 0;  // number of the last free, counted per home stream: see StreamOrder
  StreamSet uses;         // streams other than home
  StreamIndex home = 0;
  uint32_t generation = 0;  // number of allocations that used this record
  uint32_t waits = 0;       // events that have not fired
  BlockState state = BlockState::kUnused;
  bool small = false;
  void* event = nullptr;  // CUB pool only: an EventNode*

  bool IsWholeSegment() const { return before == nullptr && after == nullptr; }
  void AddUse(StreamIndex stream);
};

// A token is the address of the record plus the low 7 bits of the generation, so it points into the
// record. A token of an earlier allocation is detected unless its generation differs by a multiple
// of 128.
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

// The records of one pool. Allocates them in slabs and frees them only on destruction. Not thread
// safe.
class BlockTable {
 public:
  explicit BlockTable(Pool* pool) : pool_(pool) {}
  // Returns a record whose members, except pool and generation, have their default values.
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
