#pragma once
// Replaces fully connected layers with constant weights by FCFusion, which packs the weights once,
// together with the bias and the Gelu that follow.
//
//   before: BatchMatMul x w -> a    Add a b -> c    Gelu c -> y
//   after:  FCFusion x w b -> y     activation: "Gelu"
//
// Accepts FC, FCTransposed, MatMul with axis_a 1, and BatchMatMul with a weight matrix, with or
// without trans_b, and the operands of Add in any order. The pass fuse_activation adds other
// activations.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseFC(NetDef net, PassContext& context);

}  // namespace caffe2rt
