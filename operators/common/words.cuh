#pragma once
// Helpers for kernels that move plain data of any type: they select the widest word that divides
// the data, and 32-bit indices if those suffice.
//
//   ForWord(row_bytes | AddressBits(x) | AddressBits(y), nbytes, [&](auto word, auto index) {
//     using Word = decltype(word);
//     using Index = decltype(index);
//     ...
//   });

#include <cstdint>

namespace caffe2rt {

struct alignas(16) WideWord {
  uint64_t low, high;
};

inline uint64_t AddressBits(const void* address) { return reinterpret_cast<uintptr_t>(address); }

struct IndexOptions {
  // Kernels over more elements than this use 64-bit indices, whose division is slow. Tests set it
  // to 0 to run the 64-bit code on small tensors.
  int64_t narrow_limit = INT32_MAX;
};
inline IndexOptions& GlobalIndexOptions() {
  static IndexOptions options;
  return options;
}

// Calls f(Index{}), where Index is uint32_t if it can count to `n`, else int64_t.
template <class F>
void ForIndex(int64_t n, F f) {
  if (n <= GlobalIndexOptions().narrow_limit) return f(uint32_t{});
  f(int64_t{});
}

// Calls f(Word{}, Index{}). Word is the widest type whose size divides every number that is
// combined in `bits`: addresses and distances, in bytes. Index can count the words of `nbytes`
// bytes.
template <class F>
void ForWord(uint64_t bits, int64_t nbytes, F f) {
  const auto with_index = [&](auto word) {
    ForIndex(nbytes / static_cast<int64_t>(sizeof(word)), [&](auto index) { f(word, index); });
  };
  if (bits % 16 == 0) return with_index(WideWord{});
  if (bits % 8 == 0) return with_index(uint64_t{});
  if (bits % 4 == 0) return with_index(uint32_t{});
  if (bits % 2 == 0) return with_index(uint16_t{});
  with_index(uint8_t{});
}

}  // namespace caffe2rt
