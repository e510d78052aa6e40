#pragma once
// Element functions of neural nets: rectifiers, sigmoids and their kin. `activations.cc` lists
// them.
//
// A NaN stays a NaN unless a function says otherwise.

#include <cmath>
#include <limits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/arguments.h"
#include "operators/math/elementary.h"

namespace caffe2rt {

struct Relu {
  explicit Relu(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? 0.0f : x; }
};

struct ReluN {
  float n;
  explicit ReluN(const ArgumentHelper& args) : n(args.GetSingleArgument<float>("n", 6.0f)) {
    CAFFE_ENFORCE_GT(n, 0.0f, "argument n, the upper bound");
  }
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = x < 0.0f ? 0.0f : x;
    return y > n ? n : y;
  }
};

struct LeakyRelu {
  float alpha;
  explicit LeakyRelu(const ArgumentHelper& args)
      : alpha(args.GetSingleArgument<float>("alpha", 0.01f)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x < 0.0f ? alpha * x : x; }
};

// NaN gives 0.
struct ThresholdedRelu {
  float alpha;
  explicit ThresholdedRelu(const ArgumentHelper& args)
      : alpha(args.GetSingleArgument<float>("alpha", 1.0f)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x > alpha ? x : 0.0f; }
};

struct Elu {
  float alpha;
  explicit Elu(const ArgumentHelper& args) : alpha(args.GetSingleArgument<float>("alpha", 1.0f)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float low = alpha * (math::Exp(x) - 1.0f);
    return x < 0.0f ? low : x;
  }
};

struct Selu {
  float alpha, scale;
  explicit Selu(const ArgumentHelper& args)
      : alpha(args.GetSingleArgument<float>("alpha", 1.6732632423543772848f)),
        scale(args.GetSingleArgument<float>("scale", 1.0507009873554804934f)) {
    CAFFE_ENFORCE_GT(scale, 1.0f, "argument scale");
  }
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float low = alpha * math::Exp(x) - alpha;
    return scale * (x > 0.0f ? x : low);
  }
};

struct Sigmoid {
  explicit Sigmoid(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Logistic(x); }
};

struct HardSigmoid {
  float alpha, beta;
  explicit HardSigmoid(const ArgumentHelper& args)
      : alpha(args.GetSingleArgument<float>("alpha", 0.2f)),
        beta(args.GetSingleArgument<float>("beta", 0.5f)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = alpha * x + beta;
    const float bounded = y < 0.0f ? 0.0f : y;
    return bounded > 1.0f ? 1.0f : bounded;
  }
};

struct Tanh {
  explicit Tanh(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Tanh(x); }
};

struct Swish {
  explicit Swish(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x / (1.0f + math::Exp(-x)); }
};

// Infinite from where exp(x) is.
struct Softplus {
  explicit Softplus(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Log(math::Exp(x) + 1.0f); }
};

struct Softsign {
  explicit Softsign(const ArgumentHelper&) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x / (1.0f + std::abs(x)); }
};

// x * P(a standard normal value is below x).
struct Gelu {
  bool fast;
  explicit Gelu(const ArgumentHelper& args)
      : fast(args.GetSingleArgument<bool>("fast_gelu", false)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    if (fast) {
      const float inner = 0.79788456080286536f * (x + 0.044715f * x * x * x);
      return x * (0.5f + 0.5f * math::Tanh(inner));
    }
    return x * (0.5f + 0.5f * std::erf(x * 0.70710678118654752f));
  }
};

struct Mish {
  explicit Mish(const ArgumentHelper&) {}
  // tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2), 1 from where float no longer tells the
  // difference.
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float e = math::Exp(x > 20.0f ? 20.0f : x);
    const float part = e * (e + 2.0f);
    return x * (part / (part + 2.0f));
  }
  CAFFE2RT_HOST_DEVICE double operator()(double x) const {
    return x * std::tanh(std::log1p(std::exp(x)));
  }
};

struct Clip {
  float min, max;
  explicit Clip(const ArgumentHelper& args)
      : min(args.GetSingleArgument<float>("min", std::numeric_limits<float>::lowest())),
        max(args.GetSingleArgument<float>("max", std::numeric_limits<float>::max())) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float y = x < min ? min : x;
    return y > max ? max : y;
  }
};

struct StumpFunc {
  float threshold, low, high;
  explicit StumpFunc(const ArgumentHelper& args)
      : threshold(args.GetSingleArgument<float>("threshold", 0.0f)),
        low(args.GetSingleArgument<float>("low_value", 0.0f)),
        high(args.GetSingleArgument<float>("high_value", 0.0f)) {}
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x <= threshold ? low : high; }
};

struct Logit {
  float eps;
  explicit Logit(const ArgumentHelper& args) : eps(args.GetSingleArgument<float>("eps", 1e-6f)) {
    CAFFE_ENFORCE(eps > 0.0f && eps < 0.5f, "argument eps is ", eps,
                  ", want above 0 and below 0.5");
  }
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float high = 1.0f - eps;
    float p = x < eps ? eps : x;
    p = p > high ? high : p;
    return math::Log(p / (1.0f - p));
  }
};

}  // namespace caffe2rt
