#pragma once
// A shuffled order that depends on its seed alone: the same on every machine and library.

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns a permutation of 0 ... count - 1: Fisher and Yates' shuffle, driven by the standard's
// mt19937 with this seed. REQUIRES: count < 2^32.
std::vector<int64_t> ShuffledOrder(int64_t count, uint32_t seed);

}  // namespace caffe2rt
#pragma GCC visibility pop
