#pragma once
// ReadyChains: the chains of a net that may start now. Those with the lowest numbers are taken first.
//
// A bit for each chain, in words; and a bit for each word that may have one, so that a search reads
// few words in large nets. A thread that finds a word empty clears its bit and then looks at the word
// again; a thread that adds a chain sets the bit of the chain first. All accesses are sequentially
// consistent, so no chain is lost.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace caffe2rt {

// Thread safe, apart from the constructor and Clear. Allocates nothing after construction and takes
// no lock.
class ReadyChains {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit ReadyChains(size_t chains)
      : words_((chains + 63) / 64), summary_((words_.size() + 63) / 64) {}
  ReadyChains(const ReadyChains&) = delete;
  ReadyChains& operator=(const ReadyChains&) = delete;

  void Add(uint32_t chain) {
    words_[chain / 64].fetch_or(uint64_t{1} << chain % 64);
    const uint32_t word = chain / 64;
    const uint64_t bit = uint64_t{1} << word % 64;
    if ((summary_[word / 64].load() & bit) == 0) summary_[word / 64].fetch_or(bit);
  }
  // Removes and returns the lowest chain; kNone if there is none.
  uint32_t Take();
  // The chain that Take would return, without removing it.
  uint32_t First() const;
  void Clear();

 private:
  std::vector<std::atomic<uint64_t>> words_;
  std::vector<std::atomic<uint64_t>> summary_;
};

inline uint32_t ReadyChains::Take() {
  for (size_t group = 0; group < summary_.size(); ++group) {
    for (uint64_t left; (left = summary_[group].load()) != 0;) {
      const size_t word = group * 64 + static_cast<size_t>(std::countr_zero(left));
      const uint64_t bit = left & (~left + 1);
      uint64_t seen = words_[word].load();
      while (seen != 0) {
        if (words_[word].compare_exchange_weak(seen, seen & (seen - 1))) {
          return static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(seen)));
        }
      }
      summary_[group].fetch_and(~bit);
      if (words_[word].load() != 0) summary_[group].fetch_or(bit);
    }
  }
  return kNone;
}

inline uint32_t ReadyChains::First() const {
  for (size_t group = 0; group < summary_.size(); ++group) {
    for (uint64_t left = summary_[group].load(); left != 0; left &= left - 1) {
      const size_t word = group * 64 + static_cast<size_t>(std::countr_zero(left));
      const uint64_t chains = words_[word].load();
      if (chains != 0) {
        return static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(chains)));
      }
    }
  }
  return kNone;
}

inline void ReadyChains::Clear() {
  for (std::atomic<uint64_t>& word : words_) word.store(0);
  for (std::atomic<uint64_t>& group : summary_) group.store(0);
}

}  // namespace caffe2rt
