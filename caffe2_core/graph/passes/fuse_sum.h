#pragma once
// Fuses the addition of two tensors into the convolution that computes one of them.
//
//   Conv  x w b -> t              becomes      ConvFusion  x w b s -> y   sum: 1
//   Sum   t s -> y
//
// Sum requires equal shapes. Add also broadcasts: it is fused if both operands have the same shape
// whatever the shape of the inputs is (same_shapes.h).

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseSum(NetDef net, PassContext& context);

}  // namespace caffe2rt
