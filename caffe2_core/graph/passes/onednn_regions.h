#pragma once
// Places regions of convolutions and their neighbours on IDEEP (contexts/onednn), with the copies
// between the devices.
//
//   Conv  x w b -> c                        CopyFromCPUInput  x -> x_ideep         layout: "nhwc"
//   Relu  c -> c              becomes       Conv              x_ideep w b -> c     layout: "nhwc"
//   MaxPool  c -> p                         Relu              c -> c
//   FC  p ... -> y                          MaxPool           c -> p_ideep
//                                           EnsureCPUOutput   p_ideep -> p
//                                           FC                p ... -> y
//
// The first four operators of the result, and EnsureCPUOutput, have device type IDEEP. A region is a
// set of operators that IDEEP supports (onednn_placement.h) and that are connected by their values.
// It is placed if the convolutions gain more than the conversions at its border cost
// (conv_layouts.h). Blobs that are kept, or that other operators read, are on the CPU under their own
// names, as before.
//
// All convolutions of a region get the same base layout: NHWC or blocks of 16 channels, whichever
// the estimate of the whole region prefers. Convolutions whose inputs have unknown shapes are
// estimated for an image of 224 x 224. If context.deterministic is set, Winograd is neither used
// nor counted.
//
// With another context.precision than f32, the operators get arguments that say in which element type
// they compute (onednn_precisions.h).
//
// A ConvFusion that adds a tensor computes in place if that tensor is not used later.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef PlaceOnednnRegions(NetDef net, PassContext& context);

}  // namespace caffe2rt
