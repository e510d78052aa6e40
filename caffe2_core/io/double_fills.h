#pragma once
// Operators that fill a tensor of doubles exactly, although argument `values` of
// GivenTensorDoubleFill lists floats.
//
//   values of GivenTensorDoubleFill        operators
//   1.5, -2                                that one
//   0.1, 1.7: sums of floats               up to three GivenTensorDoubleFill, Sum
//   0.1, 1e300: no float is as large       GivenTensorInt64Fill with their bits, BitCast
//
// Caffe2 has all of these operators but BitCast, which runs on the CPU only.
//
// Internal to net_weights.cc.

#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Whether GivenTensorDoubleFill fills these doubles exactly.
bool AreFloats(const Tensor& doubles);
// The operators that fill what `fill` would fill if its argument `arg` listed the doubles exactly.
// The last one has its output. `unused` begins the names of further blobs; no blob's name begins
// with it. THROWS if that takes a BitCast and `on_cpu` is false.
std::vector<OperatorDef> ExactFills(const OperatorDef& fill, int arg, const Tensor& doubles,
                                    const std::string& unused, bool on_cpu);

}  // namespace caffe2rt
