#pragma once
// Lets operators that only change a shape work in place, which copies nothing.
//
//   Conv     x w -> t             becomes      Conv     x w -> y
//   Reshape  t -> y                            Reshape  y -> y
//
// These are Reshape, Squeeze, ExpandDims, MergeDim and PrependDim. The operator that computes t then
// writes y, so t must not be read by anything else.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef ReshapeInPlace(NetDef net, PassContext& context);

}  // namespace caffe2rt
