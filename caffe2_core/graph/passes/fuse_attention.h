#pragma once
// Replaces attention, with the Reshape and Transpose operators around it, by MultiHeadAttention.
//
//   before: Reshape q [0, 0, 12, 32] -> a    Transpose a (0, 2, 1, 3) -> b       the same for k, v
//           BatchMatMul b k' trans_b -> s    Div s 5.66 -> t    Add t mask -> u    Softmax u -> p
//           BatchMatMul p v' -> c    Transpose c (0, 2, 1, 3) -> d    Reshape d [0, 0, 384] -> y
//   after:  MultiHeadAttention q k v mask -> y
//
// Accepts heads in four dimensions, and in three, [batch * heads, tokens, size]; transposition by
// any sequence of Transpose operators and the arguments trans_a and trans_b; scalings of the scores,
// of queries and of keys; weights whose NaNs become 0; nets without mask, or with the operands of Add in any order. Shapes must be
// constant and may contain 0 and -1.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef FuseAttention(NetDef net, PassContext& context);

}  // namespace caffe2rt
