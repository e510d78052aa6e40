#pragma once
// The activation functions of ONNX's recurrent layers (activations, activation_alpha,
// activation_beta).

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

enum class LayerFunction {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

struct LayerActivation {
  LayerFunction function = LayerFunction::kTanh;
  float alpha = 0;
  float beta = 0;
};

// The functions with these names, in any case. Each takes the next alpha and beta of the lists, if
// it has such a parameter, or else its default. THROWS for an unknown name.
std::vector<LayerActivation> ParseLayerActivations(const std::vector<std::string>& names,
                                                   const std::vector<float>& alphas,
                                                   const std::vector<float>& betas);

// x[i] = f(x[i])
void ApplyLayerActivation(const LayerActivation& activation, int64_t n, float* x);

}  // namespace caffe2rt
