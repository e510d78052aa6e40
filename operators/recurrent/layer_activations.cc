#include "operators/recurrent/layer_activations.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"

namespace caffe2rt {

namespace {

struct NamedLayerFunction {
  const char* name;
  LayerFunction function;
  bool has_alpha = false, has_beta = false;
  float alpha = 0, beta = 0;
};
constexpr NamedLayerFunction kLayerFunctions[] = {
    {"Relu", LayerFunction::kRelu},
    {"Tanh", LayerFunction::kTanh},
    {"Sigmoid", LayerFunction::kSigmoid},
    {"Affine", LayerFunction::kAffine, true, true, 1.f, 0.f},
    {"LeakyRelu", LayerFunction::kLeakyRelu, true, false, 0.01f},
    {"ThresholdedRelu", LayerFunction::kThresholdedRelu, true, false, 1.f},
    {"ScaledTanh", LayerFunction::kScaledTanh, true, true, 1.f, 1.f},
    {"HardSigmoid", LayerFunction::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"Elu", LayerFunction::kElu, true, false, 1.f},
    {"Softsign", LayerFunction::kSoftsign},
    {"Softplus", LayerFunction::kSoftplus},
};

template <class F>
struct LayerKernel {
  F f;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, float a, float b, float* x) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i], a, b);
  }
};

// y = f(x, alpha, beta)
struct LayerTanh {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float, float) const { return math::Tanh(x); }
};
struct LayerSigmoid {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float, float) const { return math::Logistic(x); }
};
struct LayerScaledTanh {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float b) const {
    return a * math::Tanh(b * x);
  }
};
struct LayerElu {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float) const {
    return x >= 0.f ? x : a * (math::Exp(x) - 1.f);
  }
};

float Plain(LayerFunction function, float x, float a, float b) {
  switch (function) {
    case LayerFunction::kRelu:
      return std::max(x, 0.f);
    case LayerFunction::kAffine:
      return a * x + b;
    case LayerFunction::kLeakyRelu:
      return x >= 0.f ? x : a * x;
    case LayerFunction::kThresholdedRelu:
      return x >= a ? x : 0.f;
    case LayerFunction::kHardSigmoid:
      return std::min(std::max(a * x + b, 0.f), 1.f);
    case LayerFunction::kSoftsign:
      return x / (1.f + std::abs(x));
    default:  // Softplus, so that large numbers do not overflow
      return std::max(x, 0.f) + std::log1p(std::exp(-std::abs(x)));
  }
}

template <class F>
void RunLayer(const LayerActivation& activation, int64_t n, float* x) {
  RunSimd(LayerKernel<F>{}, n, activation.alpha, activation.beta, x);
}

}  // namespace

std::vector<LayerActivation> ParseLayerActivations(const std::vector<std::string>& names,
                                                   const std::vector<float>& alphas,
                                                   const std::vector<float>& betas) {
  std::vector<LayerActivation> result;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    const auto* row = std::find_if(
        std::begin(kLayerFunctions), std::end(kLayerFunctions),
        [&](const NamedLayerFunction& f) { return absl::EqualsIgnoreCase(f.name, name); });
    CAFFE_ENFORCE(row != std::end(kLayerFunctions), "argument activations contains \"", name,
                  "\", want Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
                  "HardSigmoid, Elu, Softsign or Softplus");
    LayerActivation activation{row->function, row->alpha, row->beta};
    if (row->has_alpha && alpha < alphas.size()) activation.alpha = alphas[alpha++];
    if (row->has_beta && beta < betas.size()) activation.beta = betas[beta++];
    result.push_back(activation);
  }
  return result;
}

void ApplyLayerActivation(const LayerActivation& activation, int64_t n, float* x) {
  switch (activation.function) {
    case LayerFunction::kTanh:
      return RunLayer<LayerTanh>(activation, n, x);
    case LayerFunction::kSigmoid:
      return RunLayer<LayerSigmoid>(activation, n, x);
    case LayerFunction::kScaledTanh:
      return RunLayer<LayerScaledTanh>(activation, n, x);
    case LayerFunction::kElu:
      return RunLayer<LayerElu>(activation, n, x);
    default:
      for (int64_t i = 0; i < n; ++i) {
        x[i] = Plain(activation.function, x[i], activation.alpha, activation.beta);
      }
  }
}

}  // namespace caffe2rt
