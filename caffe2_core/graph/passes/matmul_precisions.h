#pragma once
// Chooses in which element type fully connected layers and attention multiply, for the precision that was
// asked for (PassContext::precision):
//
//   before: FCFusion x w b -> y
//   after:  FCFusion x w b -> y     precision: "int8"
//
// Inputs and outputs stay float. Only layers with constant weights are changed. Attention multiplies bf16,
// or float where results must be the same on all machines. The argument least_precision limits the choice.

#include <cstdint>
#include <string>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/precision.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

NetDef ChooseMatMulPrecisions(NetDef net, PassContext& context);

// Why matrices cannot be multiplied in this precision on this machine; empty if they
// can. Defined in operators/matmul/fc_precision.cc.
std::string WhyNoProductsIn(Precision precision);

// The fastest precision by estimates, not below `least`, for weights that stand for a matrix [k, n].
// It does not depend on the number of rows of X or of threads, so that results do not. With
// `deterministic` and kInt8, it is the same on all machines, and not kBfloat16. Defined there as well.
Precision FastestFCPrecision(int64_t k, int64_t n, Precision least, bool deterministic);

}  // namespace caffe2rt
#pragma GCC visibility pop
