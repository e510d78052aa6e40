#pragma once
// Squeeze: takes dimensions of size 1 out of the shape; argument dims says which.

#include "operators/shape/dims_argument.h"

namespace caffe2rt {

PlacedDims SqueezedDims;

template <class Context>
using SqueezeOp = PlacedDimsOp<Context, SqueezedDims>;

}  // namespace caffe2rt
