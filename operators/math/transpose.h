#pragma once
// Transposition of a dense array of plain data.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt::math {

// How to move the elements; made once for a shape, used many times. Neighbouring axes that stay
// together are one axis here, and axes of size 1 are gone: `dims` and `strides` (of the source, in
// blocks) are in the order of the result, and the innermost `block_items` items move as one.
struct TransposePlan {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  std::vector<int64_t> index;  // counters of the outer axes; scratch of Transpose
  int64_t block_items = 1;
  int64_t blocks = 1;  // product of dims
};

// REQUIRES: axes is a permutation of 0 .. rank-1; no dimension is 0.
void PlanTranspose(IntArrayRef dims, ArrayRef<int> axes, TransposePlan* plan);

// dst and src hold blocks * block_items items of `itemsize` bytes and do not overlap.
void Transpose(TransposePlan& plan, size_t itemsize, const void* src, void* dst);

}  // namespace caffe2rt::math
