#pragma once
// Transposition of a dense array of plain data.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt::math {

// How to move the elements; made once for a shape, used many times. Axes of size 1 are gone,
// neighbouring axes that stay together are one, and items that stay together move as a block. What
// is left is a set of planes: the rows are the axis along which the source is dense, the columns
// the one along which the result is.
struct TransposePlan {
  struct Axis {
    int64_t size = 1;
    int64_t source = 0;  // distance of neighbours in the source, in blocks
    int64_t target = 0;  // in the result
    int64_t index = 0;   // counter of Transpose
  };
  int64_t block_items = 1;
  int64_t blocks = 1;  // 1: a plain copy
  Axis rows;           // source == 1
  Axis columns;        // target == 1
  std::vector<Axis> outer;
};

// Dim i of the result is dim order[i] of the source. REQUIRES: order is a permutation of 0 ..
// rank-1; no dimension is 0.
void PlanTranspose(IntArrayRef dims, ArrayRef<int> order, TransposePlan* plan);

// dst and src hold blocks * block_items items of `itemsize` bytes and do not overlap.
void Transpose(TransposePlan& plan, size_t itemsize, const void* src, void* dst);

}  // namespace caffe2rt::math
