#pragma once
// The loops of a broadcast (broadcast.h makes them), for kernels: a plain value without other
// headers of the library.
//
//   loops.ForEachBlock([&](int64_t a, int64_t b, int64_t y) { ... });    // offsets

#include <array>
#include <cstdint>

namespace caffe2rt {

struct BroadcastLoop {
  int64_t size;
  int64_t a_stride;  // 0 or the number of elements that one step moves
  int64_t b_stride;
};

// Two shapes as a nest of loops: neighbouring dimensions that move alike are one loop, dimensions
// of size 1 have none. The two innermost loops are a block: `middle` times `inner` elements.
struct BroadcastLoops {
  static constexpr int kMaxLoops = 64;  // the rank that a tensor may have

  int64_t output_size = 0;       // elements; with 0 of them the loops mean nothing
  BroadcastLoop inner{1, 1, 1};  // its strides are 0 or 1
  BroadcastLoop middle{1, 0, 0};
  int outer_count = 0;
  std::array<BroadcastLoop, kMaxLoops> outer;  // the loops around the block, outermost first

  // Calls function(a, b, y) with the offsets of the first element of each block. REQUIRES:
  // output_size > 0.
  template <class Function>
  void ForEachBlock(const Function& function) const {
    if (outer_count == 0) return function(int64_t{0}, int64_t{0}, int64_t{0});
    std::array<int64_t, kMaxLoops> index{};
    const int64_t block = inner.size * middle.size;
    int64_t a = 0, b = 0;
    for (int64_t y = 0; y < output_size; y += block) {
      function(a, b, y);
      for (int i = outer_count - 1; i >= 0; --i) {
        const BroadcastLoop& loop = outer[static_cast<size_t>(i)];
        int64_t& counter = index[static_cast<size_t>(i)];
        a += loop.a_stride;
        b += loop.b_stride;
        if (++counter < loop.size) break;
        counter = 0;
        a -= loop.a_stride * loop.size;
        b -= loop.b_stride * loop.size;
      }
    }
  }
};

}  // namespace caffe2rt
