#pragma once
// Activation functions (rectifiers, sigmoids and similar) and the table of their operators, which
// operators/elementwise registers. Convolutions and fully connected layers can apply each of them to
// their results (activation.h).
//
// NaN gives NaN, unless stated otherwise.

#include <cmath>
#include <limits>
#include <tuple>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"
#include "operators/primitives/function_table.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Relu {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? 0.0f : x; }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return y > 0.0f ? dy : 0.0f; }
};

struct ReluN {
  static constexpr std::tuple kArguments{
      ArgumentSpec<float>{"n", 6.0f, "upper bound", {[](float n) { return n > 0.0f; }, "above 0"}}};
  float n;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = x < 0.0f ? 0.0f : x;
    return y > n ? n : y;
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y > 0.0f && y < n ? dy : 0.0f;
  }
};

struct LeakyRelu {
  static constexpr std::tuple kArguments{ArgumentSpec<float>{"alpha", 0.01f, "slope for x < 0"}};
  float alpha;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? alpha * x : x; }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y >= 0.0f ? dy : alpha * dy;
  }
};

// NaN gives 0.
struct ThresholdedRelu {
  static constexpr std::tuple kArguments{ArgumentSpec<float>{"alpha", 1.0f, "threshold"}};
  float alpha;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x > alpha ? x : 0.0f; }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  // y is negative for x between a negative alpha and 0.
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return y != 0.0f ? dy : 0.0f; }
};

struct Elu {
  static constexpr std::tuple kArguments{ArgumentSpec<float>{"alpha", 1.0f, "factor for x < 0"}};
  float alpha;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float low = alpha * (math::Exp(x) - 1.0f);
    return x < 0.0f ? low : x;
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y < 0.0f ? dy * (y + alpha) : dy;
  }
};

struct Selu {
  static constexpr std::tuple kArguments{
      ArgumentSpec<float>{"alpha", 1.6732632423543772848f, "factor for x <= 0"},
      ArgumentSpec<float>{"scale",
                          1.0507009873554804934f,
                          "factor for all x",
                          {[](float scale) { return scale > 1.0f; }, "above 1"}}};
  float alpha, scale;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float low = alpha * math::Exp(x) - alpha;
    return scale * (x > 0.0f ? x : low);
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y > 0.0f ? scale * dy : dy * (y + scale * alpha);
  }
};

struct Sigmoid {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Logistic(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return dy * y * (1.0f - y); }
};

struct HardSigmoid {
  static constexpr std::tuple kArguments{ArgumentSpec<float>{"alpha", 0.2f, "slope"},
                                         ArgumentSpec<float>{"beta", 0.5f, "value at 0"}};
  float alpha, beta;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = alpha * x + beta;
    const float bounded = y < 0.0f ? 0.0f : y;
    return bounded > 1.0f ? 1.0f : bounded;
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y > 0.0f && y < 1.0f ? alpha * dy : 0.0f;
  }
};

struct Tanh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Tanh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return dy * (1.0f - y * y); }
};

struct Swish {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x / (1.0f + math::Exp(-x)); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float y, float dy) const {
    return dy * (y + (1.0f - y) / (1.0f + math::Exp(-x)));
  }
};

// Returns infinity if exp(x) overflows.
struct Softplus {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Log(math::Exp(x) + 1.0f); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return dy * (1.0f - math::Exp(-y));
  }
};

struct Softsign {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x / (1.0f + std::abs(x)); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    const float bound = 1.0f + std::abs(x);
    return dy / (bound * bound);
  }
};

// x * P(X < x) for a standard normal X.
struct Gelu {
  static constexpr std::tuple kArguments{ArgumentSpec<bool>{
      "fast_gelu", false, "1: the approximation by tanh; 0: the error function"}};
  bool fast;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    if (fast) {
      const float inner = 0.79788456080286536f * (x + 0.044715f * x * x * x);
      return x * (0.5f + 0.5f * math::Tanh(inner));
    }
    return x * (0.5f + 0.5f * math::Erf(x * 0.70710678118654752f));
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndX;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    if (fast) {
      const float square = x * x;
      const float tanh = math::Tanh(0.79788456080286536f * (x + 0.044715f * x * square));
      const float slope = 0.79788456080286536f * (1.0f + 3.0f * 0.044715f * square);
      return dy * 0.5f * (1.0f + tanh + x * (1.0f - tanh * tanh) * slope);
    }
    const float probability = 0.5f + 0.5f * math::Erf(x * 0.70710678118654752f);
    const float density = 0.39894228040143268f * math::Exp(-0.5f * x * x);
    return dy * (probability + x * density);
  }
};

struct Mish {
  // tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2). For x > 20 the quotient rounds to 1 in float.
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float e = math::Exp(x > 20.0f ? 20.0f : x);
    const float part = e * (e + 2.0f);
    return x * (part / (part + 2.0f));
  }
  CAFFE2RT_HOST_DEVICE double operator()(double x) const {
    return x * std::tanh(std::log1p(std::exp(x)));
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float y, float dy) const {
    return dy * Slope(x, y, math::Logistic(x));
  }
  CAFFE2RT_HOST_DEVICE double Gradient(double x, double y, double dy) const {
    return dy * Slope(x, y, 1.0 / (1.0 + std::exp(-x)));
  }

 private:
  // y / x is tanh(log(1 + exp(x))).
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Slope(T x, T y, T logistic) {
    const T tanh = y / x;
    return x == T(0) ? T(0.6) : tanh + x * (T(1) - tanh * tanh) * logistic;
  }
};

struct Clip {
  static constexpr std::tuple kArguments{
      ArgumentSpec<float>{"min", std::numeric_limits<float>::lowest(), "lower bound"},
      ArgumentSpec<float>{"max", std::numeric_limits<float>::max(),
                          "upper bound; has precedence over min"}};
  float min, max;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = x < min ? min : x;
    return y > max ? max : y;
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  // At a bound the gradient is 0.
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const {
    return y > min && y < max ? dy : 0.0f;
  }
};

struct StumpFunc {
  static constexpr std::tuple kArguments{
      ArgumentSpec<float>{"threshold", 0.0f, "the largest x that gives low_value"},
      ArgumentSpec<float>{"low_value", 0.0f, "y at and below the threshold"},
      ArgumentSpec<float>{"high_value", 0.0f, "y above the threshold"}};
  float threshold, low, high;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x <= threshold ? low : high; }
};

struct Logit {
  static constexpr std::tuple kArguments{ArgumentSpec<float>{
      "eps",
      1e-6f,
      "x is clamped to [eps, 1 - eps]",
      {[](float eps) { return eps > 0.0f && eps < 0.5f; }, "above 0 and below 0.5"}}};
  float eps;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float high = 1.0f - eps;
    float p = x < eps ? eps : x;
    p = p > high ? high : p;
    return math::Log(p / (1.0f - p));
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  static constexpr bool kGradientRejectsScalars = true;  // as in Caffe2
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return x < eps || x > 1.0f - eps ? 0.0f : dy / (x * (1.0f - x));
  }
};

inline constexpr ArgumentSpec<std::string> kReluOrder{"order", "NCHW",
                                                      "accepted for old nets; has no effect"};

inline constexpr FunctionTable kActivations{
    UnaryRow<Relu, float>{.type = "Relu",
                          .doc = "y = max(x, 0); NaN stays NaN.",
                          .inplace = true,
                          .gradient_inplace = true,
                          .ignored = &kReluOrder},
    UnaryRow<ReluN, float>{.type = "ReluN",
                           .doc = "y = min(max(x, 0), n).",
                           .inplace = true,
                           .gradient_inplace = true},
    UnaryRow<LeakyRelu, float>{.type = "LeakyRelu",
                               .doc = "y = x for x >= 0, alpha * x otherwise.",
                               .inplace = true,
                               .gradient_inplace = true},
    UnaryRow<ThresholdedRelu, float>{.type = "ThresholdedRelu",
                                     .doc = "y = x for x > alpha, 0 otherwise.",
                                     .inplace = true,
                                     .gradient_inplace = true},
    UnaryRow<Elu, float>{.type = "Elu",
                         .doc = "y = x for x >= 0, alpha * (exp(x) - 1) otherwise.",
                         .inplace = true,
                         .gradient_inplace = true},
    UnaryRow<Selu, float>{.type = "Selu",
                          .doc = "y = scale * x for x > 0, scale * alpha * (exp(x) - 1) otherwise.",
                          .inplace = true,
                          .gradient_inplace = true},
    UnaryRow<Sigmoid, float>{.type = "Sigmoid",
                             .doc = "y = 1 / (1 + exp(-x)).",
                             .inplace = true,
                             .gradient_inplace = true,
                             .traits = {.writes_float = true}},
    UnaryRow<HardSigmoid, float>{.type = "HardSigmoid",
                                 .doc = "y = min(max(alpha * x + beta, 0), 1).",
                                 .inplace = true,
                                 .gradient_inplace = true},
    UnaryRow<Tanh, float>{.type = "Tanh",
                          .doc = "y = tanh(x).",
                          .inplace = true,
                          .gradient_inplace = true,
                          .traits = {.writes_float = true}},
    UnaryRow<Swish, float>{
        .type = "Swish", .doc = "y = x / (1 + exp(-x)).", .gradient_inplace = true},
    UnaryRow<Softplus, float>{.type = "Softplus",
                              .doc = "y = log(1 + exp(x)).",
                              .inplace = true,
                              .gradient_inplace = true},
    UnaryRow<Softsign, float>{
        .type = "Softsign", .doc = "y = x / (1 + |x|).", .inplace = true, .gradient_inplace = true},
    UnaryRow<Gelu, float>{.type = "Gelu", .doc = "y = x * P(X <= x) for a standard normal X."},
    UnaryRow<Mish, float, double>{.type = "Mish", .doc = "y = x * tanh(log(1 + exp(x)))."},
    UnaryRow<Clip, float>{.type = "Clip",
                          .doc = "y = min(max(x, min), max); NaN stays NaN.",
                          .inplace = true,
                          .gradient_inplace = true},
    UnaryRow<StumpFunc, float>{.type = "StumpFunc",
                               .doc = "y = low_value for x <= threshold, high_value otherwise.",
                               .gradient = GradientKind::kZero,
                               .traits = {.family = OperatorFamily::kElementwise}},
    UnaryRow<Logit, float>{.type = "Logit",
                           .doc = "y = log(p / (1 - p)), where p is x clamped to [eps, 1 - eps].",
                           .inplace = true},
};

}  // namespace caffe2rt
#pragma GCC visibility pop
