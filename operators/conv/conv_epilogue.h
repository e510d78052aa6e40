#pragma once
// What the fused convolution does with each result: adds a tensor, then applies an activation.

#include <cstdint>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/common/fused_activation.h"

namespace caffe2rt {

// y = activation(y + s), with s only if `sum` is set.
struct ConvEpilogue {
  Activation activation;
  bool sum = false;

  bool empty() const { return std::holds_alternative<NoActivation>(activation) && !sum; }
};

inline constexpr ArgumentSpec<int> kFusedSum{
    "sum", 0, "1: the last input is added to the convolution before the activation"};

void DeclareConvEpilogue(OpSchema& schema);
ConvEpilogue ReadConvEpilogue(const ArgumentHelper& args);

// Applies the epilogue to `count` elements, in parallel. `s` is read if epilogue.sum is set.
void RunConvEpilogue(const ConvEpilogue& epilogue, int64_t count, const float* s, float* y);

}  // namespace caffe2rt
