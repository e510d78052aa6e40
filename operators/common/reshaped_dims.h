#pragma once
// The shape rules of Reshape: 0 copies the dimension of the input at the same position, and one -1
// is computed from the others. If the input has no elements, 0 means size 0, and -1 becomes 0.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Replaces the values 0 and -1 in *dims by sizes. THROWS if the elements of `input` do not fit the
// shape.
// With `allow_zero`, 0 means size 0.
void ReshapedDims(IntArrayRef input, std::vector<int64_t>* dims, bool allow_zero = false);
#pragma GCC visibility pop

}  // namespace caffe2rt
