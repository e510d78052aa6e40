#pragma once
// Transposition of a dense array of plain data.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt::math {

// The loops of a transposition. Computed once for a shape and used many times. Axes of size 1 are
// removed, neighbouring axes that keep their order are merged into one, and items that stay
// together are moved as one block. The remaining loops are a set of planes: the axis along which
// the source is dense gives the rows, the axis along which the result is dense gives the columns.
struct TransposePlan {
  struct Axis {
    int64_t size = 1;
    int64_t source = 0;  // distance between neighbours in the source, in blocks
    int64_t target = 0;  // distance between neighbours in the result, in blocks
    int64_t index = 0;   // loop counter of Transpose
  };
  int64_t block_items = 1;
  int64_t blocks = 1;  // 1: a plain copy
  Axis rows;           // source == 1
  Axis columns;        // target == 1
  std::vector<Axis> outer;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the plan for a result whose dim i is dim order[i] of the source. REQUIRES: order is a
// permutation of 0 .. rank-1; no dimension is 0.
void PlanTranspose(IntArrayRef dims, ArrayRef<int> order, TransposePlan* plan);
#pragma GCC visibility pop

// Transposes src into dst. Both hold blocks * block_items items of `itemsize` bytes. REQUIRES: dst
// and src do not overlap; one thread at a time uses a plan, because it holds the loop counters.
void Transpose(TransposePlan& plan, size_t itemsize, const void* src, void* dst);

}  // namespace caffe2rt::math
