#pragma once
// Replaces layer normalization that is spelt out in arithmetic, or LayerNorm whose statistics are
// not read, by LayerNormFusion, and adds a residual Add before it to the operator.
//
//   before: ReduceMean x -> m    Sub x m -> d    Sqr d -> s    ReduceMean s -> v    Add v eps -> e
//           Sqrt e -> f    Div d f -> n    Mul n gamma -> g    Add g beta -> y
//   after:  LayerNormFusion x gamma beta -> y
//
//   before: Add a b -> x    LayerNormFusion x gamma beta -> y
//   after:  LayerNormFusion a gamma beta b -> y          with a second output x, if it is read later
//
// Accepts Pow with exponent 2 or Mul d d in place of Sqr, Pow with exponent 0.5 in place of Sqrt,
// two Sub operators that compute the same difference, and the operands of Add and Mul in any order.
// The mean must be over one dimension, which it must keep, or ReduceBackMean over the last one.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseLayerNorm(NetDef net, PassContext& context);

}  // namespace caffe2rt
