#pragma once
// The shape rules of Slice: the elements between starts and ends, in one dimension. A negative
// bound counts from one past the end: -1 is the end itself. Bounds past the end mean the end.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt {

struct SlicePlan {
  std::vector<int64_t> dims;  // shape of the output
  int axis = -1;              // the sliced dimension; -1: the output is the input
  int64_t start = 0;          // index in this dimension
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS unless there are as many starts as ends, and at most one for each dimension of the input.
void CheckSliceBounds(IntArrayRef input, size_t starts, size_t ends);

// THROWS if the bounds do not match the input, or slice more than one dimension of an input that
// has elements.
void PlanSlice(IntArrayRef input, IntArrayRef starts, IntArrayRef ends, SlicePlan* plan);

// The slice of a tensor as rows: each of `outer` rows of `all` items holds `taken` items of the
// slice, which begin at item `start`.
struct SliceRows {
  int64_t outer = 1, all = 0, taken = 0, start = 0;
};
SliceRows RowsOfSlice(IntArrayRef input, const SlicePlan& plan);
#pragma GCC visibility pop

}  // namespace caffe2rt
