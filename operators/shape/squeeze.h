#pragma once
// Squeeze: removes dimensions of size 1 from the shape. The argument dims gives their positions.

#include "operators/shape/dims_argument.h"

namespace caffe2rt {

PlacedDims SqueezedDims;

template <class Context>
using SqueezeOp = PlacedDimsOp<Context, SqueezedDims>;

}  // namespace caffe2rt
