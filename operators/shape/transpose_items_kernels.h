#pragma once
// The kernel of TransposeItems on CUDA (transpose_items.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// The axes of a transposition, in the order of the result, outermost first.
struct TransposeAxes {
  // Each axis has a size of at least 2, and at most 2^47 bytes are addressable.
  static constexpr int kMost = 48;
  int count = 0;
  // distance of neighbours in the result and in the source, in blocks
  int64_t target[kMost], source[kMost];
};

// Moves `blocks` blocks of `block_bytes` bytes each. REQUIRES: src and dst do not overlap.
void TransposeBlocks(CUDAContext& context, const TransposeAxes& axes, int64_t blocks,
                     int64_t block_bytes, const void* src, void* dst);

}  // namespace caffe2rt
