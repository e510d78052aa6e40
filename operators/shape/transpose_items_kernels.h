#pragma once
// The kernel of TransposeItems on CUDA (transpose_items.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// The axes of a transposition, those that are outermost in the result first.
struct TransposeAxes {
  // No axis has size 1, and 2^47 bytes are all that can be addressed.
  static constexpr int kMost = 48;
  int count = 0;
  int64_t target[kMost], source[kMost];  // distances of neighbours, in blocks
};

// Moves `blocks` blocks of `block_bytes` bytes each. REQUIRES: src and dst do not overlap.
void TransposeBlocks(CUDAContext& context, const TransposeAxes& axes, int64_t blocks,
                     int64_t block_bytes, const void* src, void* dst);

}  // namespace caffe2rt
