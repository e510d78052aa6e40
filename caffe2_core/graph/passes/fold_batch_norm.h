#pragma once
// Folds operators that scale and shift channels with constants (channel_affine.h) into the
// convolution or FC before them.
//
//   Conv       x w b -> t                    becomes      Conv  x w' b' -> y
//   SpatialBN  t scale bias mean var -> y    with w' = w * f, b' = (b - mean) * f + bias,
//                                            f = scale / sqrt(var + epsilon)
//
// Folds chains of any length into Conv, Conv1D, Conv2D, Conv3D, ConvTranspose and FC, in both
// storage orders and with groups. A filter that other operators read too stays, and the operator
// gets its own copy, as long as these copies take less than kMaxSharedFilterCopies bytes in total.
// Nothing is folded if a new number would not be finite.

#include <cstdint>

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

inline constexpr uint64_t kMaxSharedFilterCopies = uint64_t{64} << 20;

NetDef FoldBatchNorm(NetDef net, PassContext& context);

}  // namespace caffe2rt
