#pragma once
// ExpandDims: inserts dimensions of size 1 into the shape. The argument dims gives their positions
// in the result.

#include "operators/shape/dims_argument.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
PlacedDims ExpandedDims;
#pragma GCC visibility pop

template <class Context>
using ExpandDimsOp = PlacedDimsOp<Context, ExpandedDims>;

}  // namespace caffe2rt
