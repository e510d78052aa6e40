#pragma once
// The activations that fused operators apply, by their definitions in double.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace caffe2rt::test {

struct ActivationFormula {
  std::string name;  // an operator type, "FastGelu", or "" for none
  std::vector<std::pair<std::string, float>> arguments;
  double (*exact)(double) = nullptr;

  // The arguments of an operator that applies it, as text.
  std::string Text() const {
    std::string text = "arg { name: \"activation\" s: \"" + name + "\" } ";
    for (const auto& [argument, value] : arguments) {
      text += "arg { name: \"activation_" + argument + "\" " +
              (argument == "fast_gelu" ? "i: 1" : "f: " + std::to_string(value)) + " } ";
    }
    return text;
  }
};

inline double GeluByTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

inline const std::vector<ActivationFormula>& ActivationFormulas() {
  static const auto* const formulas = new std::vector<ActivationFormula>{
      {"", {}, [](double x) { return x; }},
      {"Relu", {}, [](double x) { return std::max(x, 0.0); }},
      {"ReluN", {{"n", 0.5f}}, [](double x) { return std::min(std::max(x, 0.0), 0.5); }},
      {"LeakyRelu", {{"alpha", 0.25f}}, [](double x) { return x < 0 ? 0.25 * x : x; }},
      {"ThresholdedRelu", {{"alpha", 0.25f}}, [](double x) { return x > 0.25 ? x : 0.0; }},
      {"Elu", {{"alpha", 0.25f}}, [](double x) { return x < 0 ? 0.25 * std::expm1(x) : x; }},
      {"Selu",
       {{"alpha", 1.5f}, {"scale", 1.25f}},
       [](double x) { return 1.25 * (x > 0 ? x : 1.5 * std::expm1(x)); }},
      {"Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"HardSigmoid",
       {{"alpha", 0.5f}, {"beta", 0.25f}},
       [](double x) { return std::min(std::max(0.5 * x + 0.25, 0.0), 1.0); }},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"Swish", {}, [](double x) { return x / (1 + std::exp(-x)); }},
      {"Softplus", {}, [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", {}, [](double x) { return x / (1 + std::fabs(x)); }},
      {"Gelu", {}, [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }},
      {"Gelu", {{"fast_gelu", 1}}, GeluByTanh},
      {"FastGelu", {}, GeluByTanh},
      {"Mish", {}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"Clip",
       {{"min", -0.5f}, {"max", 0.75f}},
       [](double x) { return std::min(std::max(x, -0.5), 0.75); }},
      {"StumpFunc",
       {{"threshold", 0.25f}, {"low_value", -1}, {"high_value", 2}},
       [](double x) { return x <= 0.25 ? -1.0 : 2.0; }},
      {"Logit",
       {{"eps", 0.25f}},
       [](double x) {
         const double p = std::min(std::max(x, 0.25), 0.75);
         return std::log(p / (1 - p));
       }},
  };
  return *formulas;
}

// The first formula of the name.
inline const ActivationFormula& FormulaOf(const std::string& name) {
  return *std::find_if(ActivationFormulas().begin(), ActivationFormulas().end(),
                       [&](const ActivationFormula& formula) { return formula.name == name; });
}

}  // namespace caffe2rt::test
