#pragma once
// What the fused convolution does with each result: adds a tensor, then applies an activation.

#include <cstdint>
#include <limits>
#include <string>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

enum class ConvActivation { kNone, kRelu, kClip, kLeakyRelu, kElu, kSigmoid, kTanh, kSwish };

// y = activation(y + s), with s only if `sum` is set.
struct ConvEpilogue {
  ConvActivation activation = ConvActivation::kNone;
  float min = std::numeric_limits<float>::lowest();  // of Clip
  float max = std::numeric_limits<float>::max();     // of Clip
  float alpha = 0;                                   // of LeakyRelu and Elu
  bool sum = false;

  bool empty() const { return activation == ConvActivation::kNone && !sum; }
};

// Returns false if no activation has this operator type. "" is kNone.
bool ParseConvActivation(const std::string& type, ConvActivation* activation);

inline constexpr ArgumentSpec<std::string> kFusedActivation{
    "activation",
    "",
    "operator type of the activation: Relu, Clip, LeakyRelu, Elu, Sigmoid, Tanh or Swish; empty: "
    "none",
    {[](const std::string& type) {
       ConvActivation activation;
       return ParseConvActivation(type, &activation);
     },
     "Relu, Clip, LeakyRelu, Elu, Sigmoid, Tanh, Swish or empty"}};
inline constexpr ArgumentSpec<float> kFusedMin{
    "activation_min", std::numeric_limits<float>::lowest(), "lower bound of Clip"};
inline constexpr ArgumentSpec<float> kFusedMax{"activation_max", std::numeric_limits<float>::max(),
                                               "upper bound of Clip"};
inline constexpr ArgumentSpec<float> kFusedAlpha{"activation_alpha", 0.01f,
                                                 "slope or scale of LeakyRelu and Elu for x < 0"};
inline constexpr ArgumentSpec<int> kFusedSum{
    "sum", 0, "1: the last input is added to the convolution before the activation"};

// Sets the bounds of the results for the activations none, Relu and Clip: y = min(max(y, lowest),
// highest). Returns false for others.
bool SetBounds(const ConvEpilogue& epilogue, float* lowest, float* highest);

void DeclareConvEpilogue(OpSchema& schema);
ConvEpilogue ReadConvEpilogue(const ArgumentHelper& args);

// Applies the epilogue to `count` elements, in parallel. `s` is read if epilogue.sum is set.
void RunConvEpilogue(const ConvEpilogue& epilogue, int64_t count, const float* s, float* y);

}  // namespace caffe2rt
