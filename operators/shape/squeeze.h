#pragma once
// Squeeze: removes dimensions of size 1 from the shape. The argument dims gives their positions.

#include "operators/shape/dims_argument.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
PlacedDims SqueezedDims;
#pragma GCC visibility pop

template <class Context>
using SqueezeOp = PlacedDimsOp<Context, SqueezedDims>;

}  // namespace caffe2rt
