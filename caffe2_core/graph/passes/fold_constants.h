#pragma once
// Computes operators whose inputs are constants, once, before the net runs.
//
//   Mul   w s -> t        w and s constant
//   Conv  x t -> y        becomes        Conv  x t' -> y     with the constant t' = w * s
//
// Operators that fill a tensor from their arguments count too. Not folded: operators with effects,
// outputs that are read after the run, inputs that an operator must overwrite
// (OpSchema::EnforceInplace), and results that would take kMaxGrowthOfConstants more bytes in total
// than the constants that they replace.

#include <cstdint>

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

inline constexpr uint64_t kMaxGrowthOfConstants = uint64_t{64} << 20;

NetDef FoldConstants(NetDef net, PassContext& context);

}  // namespace caffe2rt
