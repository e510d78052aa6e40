#pragma once
// ExpandDims: puts dimensions of size 1 into the shape; argument dims says where they stand in the
// result.

#include "operators/shape/dims_argument.h"

namespace caffe2rt {

PlacedDims ExpandedDims;

template <class Context>
using ExpandDimsOp = PlacedDimsOp<Context, ExpandedDims>;

}  // namespace caffe2rt
