#pragma once
// The loops of a broadcast, for kernels. broadcast.h creates them. They are a plain value, and this
// header includes no other header of the library.
//
//   loops.ForEachBlock([&](int64_t a, int64_t b, int64_t y) { ... });    // offsets

#include <array>
#include <cstdint>

namespace caffe2rt {

struct BroadcastLoop {
  int64_t size;
  int64_t a_stride;  // 0, or the elements of A that one step advances
  int64_t b_stride;
};

// The elements of two shapes as a loop nest. Neighbouring dimensions with the same broadcasting are
// merged into one loop; dimensions of size 1 have no loop. The two innermost loops form a block of
// `middle` times `inner` elements.
struct BroadcastLoops {
  static constexpr int kMaxLoops = 64;  // the rank that a tensor may have

  int64_t output_size = 0;       // elements; if 0, the loops are undefined
  BroadcastLoop inner{1, 1, 1};  // strides are 0 or 1
  BroadcastLoop middle{1, 0, 0};
  int outer_count = 0;
  std::array<BroadcastLoop, kMaxLoops> outer;  // the loops around the block, outermost first

  // Calls function(a, b, y) for each block with the offsets of its first elements. REQUIRES:
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
