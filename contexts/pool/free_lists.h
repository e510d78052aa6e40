#pragma once
// The cached blocks of one stream, ordered by size, for fast best-fit searches. Internal to
// contexts/pool.

#include <array>
#include <cstddef>
#include <cstdint>

#include "contexts/pool/block_record.h"

namespace caffe2rt::internal {

// Sizes and addresses of blocks are multiples of this.
inline constexpr size_t kBlockGranule = 512;

// Intrusive lists, eight for each power of two, and a bitmap of the lists that are not empty. A
// search scans one list and finds the next non-empty list by the bitmap. Not thread safe.
//
// Invariants: a block is in the list of its size; lists ascend by size; among equal sizes the one
// freed last comes first (its memory is the warmest); a bit is set exactly when its list is not
// empty.
class FreeLists {
 public:
  void Insert(BlockRecord* block);
  // REQUIRES: the block is in these lists.
  void Remove(BlockRecord* block);
  // Returns the smallest block of at least `bytes`, or null if there is none. Does not remove it.
  BlockRecord* FindBestFit(size_t bytes) const;
  // The same among the blocks for which `accept` returns true. Scans linearly.
  template <class Accept>
  BlockRecord* FindBestFit(size_t bytes, Accept accept) const {
    for (size_t bin = BinOf(bytes); bin < kBins; ++bin) {
      for (BlockRecord* block = bins_[bin].first; block != nullptr; block = block->next) {
        if (block->bytes >= bytes && accept(*block)) return block;
      }
    }
    return nullptr;
  }
  // Returns null if the lists are empty.
  const BlockRecord* Largest() const;
  // Returns the number of blocks. THROWS if an invariant does not hold.
  size_t CheckInvariants() const;

 private:
  // One list for each size below 8 granules, then 8 lists for each power of two up to 2^48 bytes.
  static constexpr size_t kBins = 8 * 38;
  struct Bin {
    BlockRecord* first = nullptr;
    BlockRecord* last = nullptr;
  };
  static size_t BinOf(size_t bytes);
  // Returns the first list from `bin` on that is not empty, or kBins if there is none.
  size_t NextBin(size_t bin) const;

  std::array<uint64_t, (kBins + 63) / 64> filled_{};
  std::array<Bin, kBins> bins_{};
};

}  // namespace caffe2rt::internal
