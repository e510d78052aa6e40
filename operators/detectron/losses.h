#pragma once
// The formulas of the losses, as functors for the kernels of all devices. operator()(i) is the loss
// of element i, Gradient(i) its derivative with respect to the prediction.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"

namespace caffe2rt {

// What a sum of losses is multiplied by.
struct LossFactor {
  float scale = 1;
  const float* normalizer = nullptr;  // the divisor, or null; below 1, it counts as 1
  CAFFE2RT_HOST_DEVICE float operator()() const {
    const float divisor = normalizer == nullptr ? 1.0f : *normalizer;
    return divisor > 1.0f ? scale / divisor : scale;
  }
};

// An element with this label has no loss.
inline constexpr int32_t kIgnoredLabel = -1;

// x^2 / (2 beta) if |x| < beta, and |x| - beta / 2 otherwise.
struct SmoothL1 {
  float beta = 1;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    const float size = x < 0.0f ? -x : x;
    return size < beta ? 0.5f * x * x / beta : size - 0.5f * beta;
  }
  CAFFE2RT_SIMD_INLINE float Gradient(float x) const {
    const float size = x < 0.0f ? -x : x;
    const float sign = x < 0.0f ? -1.0f : x > 0.0f ? 1.0f : 0.0f;
    return size < beta ? x / beta : sign;
  }
};

struct SmoothL1Terms {
  SmoothL1 loss;
  const float* y_hat;
  const float* y;
  const float* alpha_in;
  const float* alpha_out;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    return alpha_out[i] * loss(alpha_in[i] * (y_hat[i] - y[i]));
  }
  CAFFE2RT_SIMD_INLINE float Gradient(int64_t i) const {
    return alpha_out[i] * alpha_in[i] * loss.Gradient(alpha_in[i] * (y_hat[i] - y[i]));
  }
};

// log(1 + exp(-size)) for size >= 0, also accurate if it is small.
CAFFE2RT_SIMD_INLINE inline float LogOnePlusExp(float size) {
  const float u = math::Exp(-size);
  const float w = 1.0f + u;
  const float corrected = math::Log(w) * (u / (w - 1.0f));
  return w == 1.0f ? u : corrected;
}

// The cross entropy of sigmoid(x[i]) and the target, which is 0, 1 or kIgnoredLabel.
struct SigmoidTerms {
  const float* x;
  const int32_t* targets;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    const float v = x[i], target = static_cast<float>(targets[i]);
    const float size = v < 0.0f ? -v : v;
    const float loss = (v < 0.0f ? 0.0f : v) - v * target + LogOnePlusExp(size);
    return targets[i] == kIgnoredLabel ? 0.0f : loss;
  }
  CAFFE2RT_SIMD_INLINE float Gradient(int64_t i) const {
    const float slope = math::Logistic(x[i]) - static_cast<float>(targets[i]);
    return targets[i] == kIgnoredLabel ? 0.0f : slope;
  }
};

// The focal loss -a (1 - q)^gamma log(q), where q is sigmoid(x) and a is alpha if the label is
// `wanted`, and q is 1 - sigmoid(x) and a is 1 - alpha if it is another class. As in Caffe2,
// -log(q) is at most -log(FLT_MIN) in the loss of a wanted class.
struct SigmoidFocal {
  float alpha = 0.25f, gamma = 1;

  // q is sigmoid(s); -log(q) is log(1 + exp(-s)), and -log(1 - q) is log(1 + exp(s)).
  CAFFE2RT_SIMD_INLINE float operator()(float x, int32_t label, int32_t wanted) const {
    const bool is_wanted = label == wanted;
    const float s = is_wanted ? x : -x;
    const float rest = LogOnePlusExp(s < 0.0f ? -s : s);
    const float surprise = (s < 0.0f ? -s : 0.0f) + rest;
    const float other = (s < 0.0f ? 0.0f : s) + rest;
    const float limited = is_wanted && surprise > kMostSurprise ? kMostSurprise : surprise;
    const float loss = (is_wanted ? alpha : 1.0f - alpha) * math::Exp(-gamma * other) * limited;
    return label == kIgnoredLabel ? 0.0f : loss;
  }
  CAFFE2RT_SIMD_INLINE float Gradient(float x, int32_t label, int32_t wanted) const {
    const bool is_wanted = label == wanted;
    const float s = is_wanted ? x : -x;
    const float rest = LogOnePlusExp(s < 0.0f ? -s : s);
    const float surprise = (s < 0.0f ? -s : 0.0f) + rest;
    const float other = (s < 0.0f ? 0.0f : s) + rest;
    const float limited = surprise > kMostSurprise ? kMostSurprise : surprise;
    const float slope =
        math::Exp(-gamma * other) * (math::Exp(-other) + gamma * math::Exp(-surprise) * limited);
    const float gradient = is_wanted ? -alpha * slope : (1.0f - alpha) * slope;
    return label == kIgnoredLabel ? 0.0f : gradient;
  }

  static constexpr float kMostSurprise = 87.336548f;  // -log(FLT_MIN)
};

// The focal loss -a (1 - p)^gamma log(p), where p is the probability of a label, and a is alpha, or
// 1 - alpha if the label is 0. Gradient is the derivative with respect to the logit of the label,
// divided by 1 - p; that of another class with probability q is the same times -q.
struct SoftmaxFocal {
  float alpha = 0.25f, gamma = 1;

  CAFFE2RT_HOST_DEVICE float operator()(float p, int32_t label) const {
    return -Weight(label) * std::pow(Rest(p), gamma) * LogOf(p);
  }
  CAFFE2RT_HOST_DEVICE float Gradient(float p, int32_t label) const {
    const float rest = Rest(p);
    // The second factor tends to 0 with the rest.
    const float slope =
        gamma == 0.0f || rest == 0.0f ? 0.0f : gamma * std::pow(rest, gamma - 1.0f) * p * LogOf(p);
    return Weight(label) * (slope - std::pow(rest, gamma));
  }

 private:
  CAFFE2RT_HOST_DEVICE float Weight(int32_t label) const {
    return label == 0 ? 1.0f - alpha : alpha;
  }
  CAFFE2RT_HOST_DEVICE static float Rest(float p) { return p > 1.0f ? 0.0f : 1.0f - p; }
  CAFFE2RT_HOST_DEVICE static float LogOf(float p) {
    constexpr float kLeast = 1.17549435e-38f;  // FLT_MIN
    return std::log(p < kLeast ? kLeast : p);
  }
};

}  // namespace caffe2rt
