#pragma once
// For kernels that move plain data, whatever its type: the widest word that fits, and an index of
// 32 bits where that is enough.
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
  // Kernels over more elements count in 64 bits, whose division is slow. Tests set 0, so that
  // small tensors take that way too.
  int64_t narrow_limit = INT32_MAX;
};
inline IndexOptions& GlobalIndexOptions() {
  static IndexOptions options;
  return options;
}

// Calls f(Index{}): uint32_t when it can count to `n`, else int64_t.
template <class F>
void ForIndex(int64_t n, F f) {
  if (n <= GlobalIndexOptions().narrow_limit) return f(uint32_t{});
  f(int64_t{});
}

// Calls f(Word{}, Index{}). A word divides every number that is joined in `bits`: addresses and
// distances, in bytes. Index can count the words of `nbytes` bytes.
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
