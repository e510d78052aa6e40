#pragma once
// What the fused convolution does with each result: adds a tensor, then applies an activation.

#include <cstdint>
#include <limits>
#include <string>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/primitives/activation.h"

namespace caffe2rt {

// y = activation(y + s), with s only if `sum` is set.
struct ConvEpilogue {
  Activation activation;
  bool sum = false;

  bool empty() const { return activation.kind == Activation::Kind::kNone && !sum; }
};

inline constexpr ArgumentSpec<std::string> kFusedActivation{
    "activation",
    "",
    "operator type of the activation; FastGelu: Gelu by tanh; empty: none",
    {Activation::IsName, kActivationNames}};
inline constexpr ArgumentSpec<float> kFusedMin{
    "activation_min", std::numeric_limits<float>::lowest(), "lower bound of Clip"};
inline constexpr ArgumentSpec<float> kFusedMax{"activation_max", std::numeric_limits<float>::max(),
                                               "upper bound of Clip"};
inline constexpr ArgumentSpec<float> kFusedAlpha{"activation_alpha", 0.01f,
                                                 "slope or scale of LeakyRelu and Elu for x < 0"};
inline constexpr ArgumentSpec<int> kFusedSum{
    "sum", 0, "1: the last input is added to the convolution before the activation"};

void DeclareConvEpilogue(OpSchema& schema);
ConvEpilogue ReadConvEpilogue(const ArgumentHelper& args);

// Applies the epilogue to `count` elements, in parallel. `s` is read if epilogue.sum is set.
void RunConvEpilogue(const ConvEpilogue& epilogue, int64_t count, const float* s, float* y);

}  // namespace caffe2rt
