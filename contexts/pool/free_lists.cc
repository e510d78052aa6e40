#include "contexts/pool/free_lists.h"

#include <algorithm>
#include <bit>

namespace caffe2rt::internal {

size_t FreeLists::BinOf(size_t bytes) {
  const size_t units = bytes / kBlockGranule;
  if (units < 8) return units;
  const size_t power = std::bit_width(units) - 1;
  return std::min((power - 2) * 8 + ((units >> (power - 3)) & 7), kBins - 1);
}

size_t FreeLists::NextBin(size_t bin) const {
  if (bin >= kBins) return kBins;
  size_t word = bin / 64;
  uint64_t bits = filled_[word] & (~uint64_t{0} << (bin % 64));
  while (bits == 0) {
    if (++word == filled_.size()) return kBins;
    bits = filled_[word];
  }
  return word * 64 + static_cast<size_t>(std::countr_zero(bits));
}

void FreeLists::Insert(BlockRecord* block) {
  const size_t index = BinOf(block->bytes);
  Bin& bin = bins_[index];
  filled_[index / 64] |= uint64_t{1} << (index % 64);
  BlockRecord* next = bin.first;
  if (bin.last != nullptr && bin.last->bytes < block->bytes) next = nullptr;
  while (next != nullptr && next->bytes < block->bytes) next = next->next;
  block->next = next;
  block->previous = next != nullptr ? next->previous : bin.last;
  (block->previous != nullptr ? block->previous->next : bin.first) = block;
  (next != nullptr ? next->previous : bin.last) = block;
}

void FreeLists::Remove(BlockRecord* block) {
  const size_t index = BinOf(block->bytes);
  Bin& bin = bins_[index];
  (block->previous != nullptr ? block->previous->next : bin.first) = block->next;
  (block->next != nullptr ? block->next->previous : bin.last) = block->previous;
  block->previous = block->next = nullptr;
  if (bin.first == nullptr) filled_[index / 64] &= ~(uint64_t{1} << (index % 64));
}

BlockRecord* FreeLists::FindBestFit(size_t bytes) const {
  const size_t own = BinOf(bytes);
  for (BlockRecord* block = bins_[own].first; block != nullptr; block = block->next) {
    if (block->bytes >= bytes) return block;
  }
  // All blocks of later lists are larger, and each list ascends, so the first block fits best.
  const size_t bin = NextBin(own + 1);
  return bin < kBins ? bins_[bin].first : nullptr;
}

const BlockRecord* FreeLists::Largest() const {
  for (size_t word = filled_.size(); word-- > 0;) {
    if (filled_[word] == 0) continue;
    return bins_[word * 64 + std::bit_width(filled_[word]) - 1].last;
  }
  return nullptr;
}

size_t FreeLists::CheckInvariants() const {
  size_t count = 0;
  for (size_t i = 0; i < kBins; ++i) {
    const bool filled = (filled_[i / 64] >> (i % 64) & 1) != 0;
    CAFFE_ENFORCE_EQ(filled, bins_[i].first != nullptr, "bit of free list ", i);
    const BlockRecord* previous = nullptr;
    for (const BlockRecord* block = bins_[i].first; block != nullptr; block = block->next) {
      CAFFE_ENFORCE_EQ(BinOf(block->bytes), i, "free list of a block of ", block->bytes, " bytes");
      CAFFE_ENFORCE(block->previous == previous, "free list ", i, " has a broken link");
      CAFFE_ENFORCE(previous == nullptr || previous->bytes <= block->bytes, "free list ", i,
                    " is not sorted by size");
      previous = block;
      ++count;
    }
    CAFFE_ENFORCE(bins_[i].last == previous, "free list ", i, " has a wrong last block");
  }
  return count;
}

}  // namespace caffe2rt::internal
