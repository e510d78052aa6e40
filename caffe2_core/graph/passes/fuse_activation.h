#pragma once
// Fuses an activation into the convolution, FC or SpatialBN (in test mode) before it.
//
//   Conv  x w b -> t              becomes      ConvFusion  x w b -> y    activation: "Relu"
//   Relu  t -> y
//
//   SpatialBN  x s b m v -> t     becomes      SpatialBNFusion  x s b m v -> y    activation: "Relu"
//   Relu  t -> y
//
// The activations are the types with the trait fused_activation. A ConvFusion that adds a tensor gets
// the activation too.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseActivation(NetDef net, PassContext& context);

}  // namespace caffe2rt
