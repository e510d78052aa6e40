#pragma once
// Divides loops over elements, rows or planes among the threads of the pool, if they are long
// enough to be worth it.
//
//   ParallelElements(n, [&](int64_t first, int64_t last) {
//     for (int64_t i = first; i < last; ++i) y[i] = f(x[i]);
//   });
//   ParallelRanges(planes, plane_size, [&](int64_t first, int64_t last) { ... });
//
// The function is called once for each range; the ranges cover all indices and do not overlap. If
// it treats all indices alike, the results have the same bits for every number of threads:
// ParallelElements begins each range at a multiple of kElementUnit, so that a vectorized loop
// processes the same elements in its last, incomplete vector. Allocates nothing.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

// The least number of cheap steps (a load, an operation, a store) for one thread: a few
// microseconds, several times the cost of handing work to a thread that is awake.
inline constexpr int64_t kParallelGrain = 16384;
// Elements at which ranges may begin: a multiple of every vector length.
inline constexpr int64_t kElementUnit = 64;

// Calls function(first, last) for ranges of [0, count). `steps` is the cost of one index, in steps
// as for kParallelGrain.
template <class F>
void ParallelRanges(int64_t count, int64_t steps, const F& function) {
  if (count <= 0) return;
  // In floating point, because the product may overflow.
  const double work = static_cast<double>(count) * static_cast<double>(steps);
  const int threads = work < 2.0 * kParallelGrain ? 1 : GetNumThreads();
  if (threads == 1) {
    function(int64_t{0}, count);
    return;
  }
  const double grains = work / static_cast<double>(kParallelGrain);
  const int pieces = static_cast<int>(
      std::min({static_cast<double>(threads), static_cast<double>(count), grains}));
  ParallelFor(pieces, [&](int piece) {
    // Dividing first keeps the product below `count`.
    const int64_t share = count / pieces, rest = count % pieces;
    const auto begin = [&](int64_t p) { return share * p + std::min(p, rest); };
    function(begin(piece), begin(piece + 1));
  });
}

// The same for n elements that cost `steps` each.
template <class F>
void ParallelElements(int64_t n, int64_t steps, const F& function) {
  if (n < 2 * kElementUnit) {
    if (n > 0) function(int64_t{0}, n);
    return;
  }
  const int64_t units = (n - 1) / kElementUnit + 1;
  ParallelRanges(units, kElementUnit * steps, [&](int64_t first, int64_t last) {
    function(first * kElementUnit, last == units ? n : last * kElementUnit);
  });
}
template <class F>
void ParallelElements(int64_t n, const F& function) {
  ParallelElements(n, 1, function);
}

}  // namespace caffe2rt
