#pragma once
// The cached blocks of one stream, by size: best fit in a few steps. Internal to contexts/pool.

#include <array>
#include <cstddef>
#include <cstdint>

#include "contexts/pool/block_record.h"

namespace caffe2rt::internal {

// Sizes and addresses of blocks are multiples of it.
inline constexpr size_t kBlockGranule = 512;

// Lists in the links of the blocks, one for each of eight steps between powers of two, and a bit
// for each list that is not empty. Not thread safe.
//
// Invariants: a block is in the list of its size; lists ascend by size; among equal sizes the one
// freed last comes first (its memory is the warmest); a bit is set exactly when its list is not
// empty.
class FreeLists {
 public:
  void Insert(BlockRecord* block);
  // REQUIRES: the block is here.
  void Remove(BlockRecord* block);
  // The smallest block of at least `bytes`, null if there is none. It stays.
  BlockRecord* FindBestFit(size_t bytes) const;
  // The same among blocks that `accept` takes.
  template <class Accept>
  BlockRecord* FindBestFit(size_t bytes, Accept accept) const {
    for (size_t bin = BinOf(bytes); bin < kBins; ++bin) {
      for (BlockRecord* block = bins_[bin].first; block != nullptr; block = block->next) {
        if (block->bytes >= bytes && accept(*block)) return block;
      }
    }
    return nullptr;
  }
  // Null when empty.
  const BlockRecord* Largest() const;
  // Number of blocks. THROWS where an invariant does not hold.
  size_t CheckInvariants() const;

 private:
  // 8 units of a granule have lists of their own, then 8 for each power of two up to 2^48 bytes.
  static constexpr size_t kBins = 8 * 38;
  struct Bin {
    BlockRecord* first = nullptr;
    BlockRecord* last = nullptr;
  };
  static size_t BinOf(size_t bytes);
  // The first list that is not empty from `bin` on; kBins if there is none.
  size_t NextBin(size_t bin) const;

  std::array<uint64_t, (kBins + 63) / 64> filled_{};
  std::array<Bin, kBins> bins_{};
};

}  // namespace caffe2rt::internal
