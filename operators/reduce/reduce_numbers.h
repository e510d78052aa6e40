#pragma once
// Reductions on the CPU for all number types, with ONNX's meaning: what the vectorized loops of
// reduce_plan.h do not cover. Sums of floating-point numbers are computed in double; integers wrap
// around.

#include "caffe2_core/tensor/tensor.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

// Reduces X to Y, which has the right shape, and returns true; returns false if the type of X is not
// supported (float, double, int32, int64; for kMax and kMin also int8, uint8 and bool). No elements
// have the maximum -inf or the lowest integer, the minimum inf or the highest integer, and the mean
// NaN. `scratch` is memory for the sums.
bool ReduceNumbers(NumberReduction kind, const ReducePlan& plan, const Tensor& X, Tensor* Y,
                   Tensor* scratch);

}  // namespace caffe2rt
