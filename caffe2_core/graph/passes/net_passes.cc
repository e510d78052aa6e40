// The list of all graph passes. To add a pass, include its header and add a row.

#include "caffe2_core/graph/passes/fold_batch_norm.h"
#include "caffe2_core/graph/passes/fold_constants.h"
#include "caffe2_core/graph/passes/fuse_activation.h"
#include "caffe2_core/graph/passes/fuse_attention.h"
#include "caffe2_core/graph/passes/fuse_fc.h"
#include "caffe2_core/graph/passes/fuse_gelu.h"
#include "caffe2_core/graph/passes/fuse_layer_norm.h"
#include "caffe2_core/graph/passes/fuse_sum.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/onednn_regions.h"
#include "caffe2_core/graph/passes/remove_copies.h"
#include "caffe2_core/graph/passes/remove_dead_operators.h"
#include "caffe2_core/graph/passes/reshape_in_place.h"

namespace caffe2rt {

const std::vector<NetPassInfo>& NetPasses() {
  // The order matters: a pass sees what the passes above it have made.
  static const std::vector<NetPassInfo> passes = {
      {"remove_copies", "Removes operators that only pass a tensor on.", RemoveCopies, true},
      {"remove_dead_operators", "Removes operators whose results are not read.",
       RemoveDeadOperators, true},
      {"fold_constants", "Computes operators on constants once, before the net runs.",
       FoldConstants, true},
      {"fold_batch_norm",
       "Folds SpatialBN, AffineChannel, Scale, Mul, Div, Add and Sub with constants into the Conv, "
       "ConvTranspose or FC before them.",
       FoldBatchNorm, false},
      {"fuse_gelu", "Replaces Gelu that is spelt out in arithmetic by one operator.", FuseGelu,
       false},
      {"fuse_fc", "Replaces FC, MatMul and BatchMatMul with constant weights by FCFusion.", FuseFC,
       false},
      {"fuse_layer_norm",
       "Replaces layer normalization, with a residual Add before it, by LayerNormFusion.",
       FuseLayerNorm, false},
      {"fuse_attention",
       "Replaces attention, with the Reshape and Transpose around it, by MultiHeadAttention.",
       FuseAttention, false},
      {"fuse_sum", "Fuses Sum and Add into the Conv before them.", FuseSum, false},
      {"fuse_activation", "Fuses an activation into the Conv, FC or SpatialBN before it.", FuseActivation,
       false},
      {"matmul_precisions",
       "Chooses in which precision FCFusion and MultiHeadAttention multiply, if less than float is "
       "asked for.",
       ChooseMatMulPrecisions, false},
      {"onednn_regions",
       "Places convolutions and their neighbours on IDEEP, in oneDNN's layouts. Convolutions with "
       "Relu or Clip may turn NaN into a bound.",
       PlaceOnednnRegions, false},
      {"reshape_in_place", "Lets operators that only change a shape work in place.", ReshapeInPlace,
       true},
  };
  return passes;
}

}  // namespace caffe2rt
