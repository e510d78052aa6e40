// The activation functions of neural nets: each is a struct in activation_functions.h and a row
// here.

#include "caffe2_core/graph/gradient.h"
#include "operators/elementwise/activation_functions.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterActivations() {
  RegisterUnary<Relu, float>({.type = "Relu",
                              .doc = "y = max(x, 0); NaN stays NaN.",
                              .inplace = true,
                              .text_argument = "order"},
                             __FILE__);
  RegisterUnary<ReluN, float>({.type = "ReluN",
                               .doc = "y = min(max(x, 0), n).",
                               .inplace = true,
                               .args = {{"n", "upper bound, above 0", 6}}},
                              __FILE__);
  RegisterUnary<LeakyRelu, float>({.type = "LeakyRelu",
                                   .doc = "y = x for x >= 0, alpha * x otherwise.",
                                   .inplace = true,
                                   .args = {{"alpha", "slope for x < 0", 0.01}}},
                                  __FILE__);
  RegisterUnary<ThresholdedRelu, float>({.type = "ThresholdedRelu",
                                         .doc = "y = x for x > alpha, 0 otherwise.",
                                         .inplace = true,
                                         .args = {{"alpha", "threshold", 1}}},
                                        __FILE__);
  RegisterUnary<Elu, float>({.type = "Elu",
                             .doc = "y = x for x >= 0, alpha * (exp(x) - 1) otherwise.",
                             .inplace = true,
                             .args = {{"alpha", "factor for x < 0", 1}}},
                            __FILE__);
  RegisterUnary<Selu, float>(
      {.type = "Selu",
       .doc = "y = scale * x for x > 0, scale * alpha * (exp(x) - 1) otherwise.",
       .inplace = true,
       .args = {{"alpha", "factor for x <= 0", 1.6732632423543772848},
                {"scale", "factor of both parts", 1.0507009873554804934}}},
      __FILE__);
  RegisterUnary<Sigmoid, float>(
      {.type = "Sigmoid", .doc = "y = 1 / (1 + exp(-x)).", .inplace = true}, __FILE__);
  RegisterUnary<HardSigmoid, float>(
      {.type = "HardSigmoid",
       .doc = "y = min(max(alpha * x + beta, 0), 1).",
       .inplace = true,
       .args = {{"alpha", "slope", 0.2}, {"beta", "value at 0", 0.5}}},
      __FILE__);
  RegisterUnary<Tanh, float>({.type = "Tanh", .doc = "y = tanh(x).", .inplace = true}, __FILE__);
  RegisterUnary<Swish, float>({.type = "Swish", .doc = "y = x / (1 + exp(-x))."}, __FILE__);
  RegisterUnary<Softplus, float>(
      {.type = "Softplus", .doc = "y = log(1 + exp(x)).", .inplace = true}, __FILE__);
  RegisterUnary<Softsign, float>({.type = "Softsign", .doc = "y = x / (1 + |x|).", .inplace = true},
                                 __FILE__);
  RegisterUnary<Gelu, float>(
      {.type = "Gelu",
       .doc = "y = x * P(X <= x) for a standard normal X.",
       .args = {{"fast_gelu", "1: the approximation by tanh; 0: the error function", 0}}},
      __FILE__);
  RegisterUnary<Mish, float, double>({.type = "Mish", .doc = "y = x * tanh(log(1 + exp(x)))."},
                                     __FILE__);
  RegisterUnary<Clip, float>({.type = "Clip",
                              .doc = "y = min(max(x, min), max); NaN stays NaN.",
                              .inplace = true,
                              .args = {{"min", "lower bound", std::numeric_limits<float>::lowest()},
                                       {"max", "upper bound, stronger than the lower one",
                                        std::numeric_limits<float>::max()}}},
                             __FILE__);
  RegisterUnary<StumpFunc, float>({.type = "StumpFunc",
                                   .doc = "y = low_value for x <= threshold, high_value otherwise.",
                                   .args = {{"threshold", "the last x that is low", 0},
                                            {"low_value", "y at and below the threshold", 0},
                                            {"high_value", "y above the threshold", 0}}},
                                  __FILE__);
  RegisterUnary<Logit, float>({.type = "Logit",
                               .doc = "y = log(p / (1 - p)), p = x held within [eps, 1 - eps].",
                               .inplace = true,
                               .args = {{"eps", "distance to 0 and 1 that is kept", 1e-6}}},
                              __FILE__);
  // Constants: the backward pass ends here.
  RegisterGradient<NoGradient>("StumpFunc", __FILE__);
}

}  // namespace caffe2rt
