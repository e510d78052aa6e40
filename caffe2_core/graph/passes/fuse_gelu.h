#pragma once
// Replaces Gelu that is spelt out in arithmetic by one operator.
//
//   before: Div x 1.414 -> a    Erf a -> b    Add b 1 -> c    Mul x c -> d    Mul d 0.5 -> y
//   after:  Gelu x -> y
//
// Accepts Mul by 0.707 in place of Div, the operands of Add and Mul in any order, and the factors x,
// 0.5 and c multiplied in any order. If a constant has rank 1, x must be known to have a dimension:
// a scalar would get one.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseGelu(NetDef net, PassContext& context);

}  // namespace caffe2rt
