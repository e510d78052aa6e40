#pragma once
// The element functions of the optimizers, shared by the CPU and CUDA, by dense and sparse updates.
//
// A rule is a struct of numbers and pointers to memory of one device. rule(i, g, rate) updates
// element i of the parameter and its state, given element g of the gradient. In a dense update i and
// g are equal; in a sparse one they are elements of the updated row and of the gradient's slice.
// Rate() reads the learning rate, once per update. Outputs may equal inputs (in place).
//
// A rule with kPerRow has one number of state per row instead of one per element. State(row, mean)
// is the new state, given the mean of the squares of Gradient(i, g) over the row; SetState writes
// it, and rule(i, g, Factor(state, rate), rate) updates the elements.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/simd.h"

namespace caffe2rt {

// m' = momentum * m + rate * d. The step is m', or (1 + momentum) * m' - momentum * m with nesterov.
// d is the gradient plus weight_decay * param.
struct MomentumRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* grad;
  const float* moment;
  const float* param;  // null: there is no parameter, and out_param is null too
  float* out_grad;     // the step
  float* out_moment;
  float* out_param;
  float momentum, weight_decay;
  bool nesterov;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float before = moment[i];
    const float d = param == nullptr ? grad[g] : grad[g] + weight_decay * param[i];
    const float after = momentum * before + r * d;
    const float step = nesterov ? (1.0f + momentum) * after - momentum * before : after;
    if (param != nullptr) out_param[i] = param[i] - step;
    out_moment[i] = after;
    out_grad[g] = step;
  }
};

// The same for a parameter of float16 numbers. The arithmetic is done in float. On CUDA, kernels use
// Step with conversions of their own.
struct HalfMomentumRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float16* grad;
  const float16* moment;
  const float16* param;
  float16* out_grad;
  float16* out_moment;
  float16* out_param;
  float momentum, weight_decay;
  bool nesterov;

  // Replaces the moment and returns the step.
  CAFFE2RT_SIMD_INLINE float Step(float r, float d, float value, float* m) const {
    const float before = *m;
    *m = momentum * before + r * (d + weight_decay * value);
    return nesterov ? (1.0f + momentum) * *m - momentum * before : *m;
  }
  float Rate() const { return *rate; }
  void operator()(int64_t i, int64_t g, float r) const {
    float after = moment[i];
    const float value = param[i], step = Step(r, grad[g], value, &after);
    out_param[i] = float16(value - step);
    out_moment[i] = float16(after);
    out_grad[g] = float16(step);
  }
};

// moment' = decay * moment + d^2, update = rate / (sqrt(moment') + epsilon) * d, where d is the
// gradient plus weight_decay * param.
struct AdagradRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* param;
  const float* moment;
  const float* grad;
  float* out_param;
  float* out_moment;
  float* out_effective;  // the factor of d; may be null
  float* out_update;     // may be null
  float epsilon, decay, weight_decay;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g] + weight_decay * param[i];
    const float next = decay * moment[i] + d * d;
    const float effective = r / (std::sqrt(next) + epsilon);
    const float update = effective * d;
    out_param[i] = param[i] + update;
    out_moment[i] = next;
    if (out_effective != nullptr) out_effective[g] = effective;
    if (out_update != nullptr) out_update[g] = update;
  }
};

// Adagrad with one moment per row, to which the mean of d^2 is added.
struct RowWiseAdagradRule {
  static constexpr bool kPerRow = true;
  const float* rate;
  const float* param;
  const float* moment;
  const float* grad;
  float* out_param;
  float* out_moment;
  float epsilon, weight_decay;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE float Gradient(int64_t i, int64_t g) const {
    return grad[g] + weight_decay * param[i];
  }
  CAFFE2RT_SIMD_INLINE float State(int64_t row, float mean) const { return moment[row] + mean; }
  CAFFE2RT_SIMD_INLINE void SetState(int64_t row, float state) const { out_moment[row] = state; }
  CAFFE2RT_SIMD_INLINE float Factor(float state, float r) const {
    return r / (std::sqrt(state) + epsilon);
  }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float factor, float) const {
    out_param[i] = param[i] + factor * Gradient(i, g);
  }
};

// The numbers of Adam that depend on the iteration.
struct AdamStep {
  float correction;  // of the bias of the moments
  bool adaptive;     // false: the second moment is not used (RAdam in its first iterations)
};

// m1' = beta1 * m1 + (1 - beta1) * d, m2' = beta2 * m2 + (1 - beta2) * d^2,
// step = correction * m1' / (sqrt(m2') + epsilon), param' = param + rate * step.
struct AdamRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* param;
  const float* moment1;
  const float* moment2;
  const float* grad;
  float* out_param;
  float* out_moment1;
  float* out_moment2;
  float* out_grad;  // the step; may be null
  float beta1, beta2, epsilon;
  AdamStep numbers;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g];
    const float first = beta1 * moment1[i] + (1.0f - beta1) * d;
    const float second = beta2 * moment2[i] + (1.0f - beta2) * d * d;
    const float scaled = numbers.correction * first;
    const float step = numbers.adaptive ? scaled / (std::sqrt(second) + epsilon) : scaled;
    out_param[i] = param[i] + r * step;
    out_moment1[i] = first;
    out_moment2[i] = second;
    if (out_grad != nullptr) out_grad[g] = step;
  }
};

// Adam with one second moment per row, to which the mean of d^2 contributes. moment2 is the moment
// of a row, and the factor is correction / (sqrt(m2') + epsilon).
struct RowWiseAdamRule {
  static constexpr bool kPerRow = true;
  const float* rate;
  const float* param;
  const float* moment1;
  const float* moment2;
  const float* grad;
  float* out_param;
  float* out_moment1;
  float* out_moment2;
  float* out_grad;  // the step; may be null
  float beta1, beta2, epsilon, correction;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE float Gradient(int64_t, int64_t g) const { return grad[g]; }
  CAFFE2RT_SIMD_INLINE float State(int64_t row, float mean) const {
    return beta2 * moment2[row] + (1.0f - beta2) * mean;
  }
  CAFFE2RT_SIMD_INLINE void SetState(int64_t row, float state) const { out_moment2[row] = state; }
  CAFFE2RT_SIMD_INLINE float Factor(float state, float) const {
    return correction / (std::sqrt(state) + epsilon);
  }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float factor, float r) const {
    const float first = beta1 * moment1[i] + (1.0f - beta1) * grad[g];
    const float step = factor * first;
    out_param[i] = param[i] + r * step;
    out_moment1[i] = first;
    if (out_grad != nullptr) out_grad[g] = step;
  }
};

// moment' = decay * moment + (1 - decay) * d^2, step = sqrt(delta + epsilon) / sqrt(moment' +
// epsilon) * d, delta' = decay * delta + (1 - decay) * step^2, param' = param + rate * step.
struct AdadeltaRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* param;
  const float* moment;
  const float* delta;
  const float* grad;
  float* out_param;
  float* out_moment;
  float* out_delta;
  float epsilon, decay;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g], old_delta = delta[i];
    const float next = decay * moment[i] + (1.0f - decay) * d * d;
    const float step = std::sqrt(old_delta + epsilon) / std::sqrt(next + epsilon) * d;
    out_param[i] = param[i] + r * step;
    out_moment[i] = next;
    out_delta[i] = decay * old_delta + (1.0f - decay) * step * step;
  }
};

// squares' = squares + (1 - decay) * (d^2 - squares),
// moment' = momentum * moment + rate * d / sqrt(epsilon + squares'); moment' is also the step.
struct RmsPropRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* grad;
  const float* squares;
  const float* moment;
  float* out_grad;
  float* out_squares;
  float* out_moment;
  float decay, momentum, epsilon;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g], before = squares[i];
    const float mean = before + (1.0f - decay) * (d * d - before);
    const float step = momentum * moment[i] + r * d / std::sqrt(epsilon + mean);
    out_squares[i] = mean;
    out_moment[i] = step;
    out_grad[g] = step;
  }
};

// y = scale * x.
struct ScaleRule {
  static constexpr bool kPerRow = false;
  const float* x;
  float* y;
  float scale;

  CAFFE2RT_SIMD_INLINE float Rate() const { return scale; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const { y[i] = r * x[g]; }
};

}  // namespace caffe2rt
