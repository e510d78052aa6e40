#pragma once
// The kernels of Lars and YellowFin, which compute learning rates from sums over a parameter. The
// structs hold numbers and pointers to memory of one device. update_all.cu has the launch
// functions for CUDA.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;
class Tensor;

// Two sums that are computed together.
struct TwoSums {
  double first, second;
};

struct LarsRate {
  using Value = TwoSums;  // of x^2 and dx^2
  const float* x;
  const float* dx;
  const float* weight_decay;
  const float* trust;
  const float* most;
  float offset, least;
  float* rate;

  CAFFE2RT_HOST_DEVICE Value Start() const { return {0, 0}; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const {
    return {static_cast<double>(x[i] * x[i]), static_cast<double>(dx[i] * dx[i])};
  }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const {
    return {a.first + b.first, a.second + b.second};
  }
  CAFFE2RT_HOST_DEVICE void Finish(Value squares) const {
    const float x_norm = static_cast<float>(std::sqrt(squares.first));
    const float dx_norm = static_cast<float>(std::sqrt(squares.second));
    float result = 1.0f;
    if (x_norm > 0.0f) {
      result = *trust / (dx_norm / x_norm + *weight_decay + offset);
      if (result > *most) result = *most;
      if (result < least) result = least;
    }
    *rate = result;
  }
};

void ComputeLarsRate(CPUContext& context, int64_t n, const LarsRate& rate, Tensor* scratch);
void ComputeLarsRate(CUDAContext& context, int64_t n, const LarsRate& rate, Tensor* scratch);

// The sums that YellowFin needs: the squared norms of the gradient, and of its moving average after
// this iteration.
struct YellowFinSums {
  using Value = TwoSums;
  const float* grad;
  const float* mean;  // the moving average before this iteration
  float beta, debias;
  float* sums;  // [2]

  CAFFE2RT_SIMD_INLINE float Square(int64_t i) const { return grad[i] * grad[i]; }
  CAFFE2RT_SIMD_INLINE float MeanSquare(int64_t i) const {
    const float average = (beta * mean[i] + (1.0f - beta) * grad[i]) * debias;
    return average * average;
  }
  CAFFE2RT_HOST_DEVICE Value Start() const { return {0, 0}; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const {
    return {static_cast<double>(Square(i)), static_cast<double>(MeanSquare(i))};
  }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const {
    return {a.first + b.first, a.second + b.second};
  }
  CAFFE2RT_HOST_DEVICE void Finish(Value value) const {
    sums[0] = static_cast<float>(value.first);
    sums[1] = static_cast<float>(value.second);
  }
};

// The elements of YellowFin (a rule, update_rules.h): gradient descent with momentum, and the moving
// averages of the gradient and of its square.
struct YellowFinRule {
  static constexpr bool kPerRow = false;
  const float* rate;
  const float* momentum;
  const float* grad;
  const float* param;
  const float* moment;
  const float* mean;
  const float* square_mean;
  float* out_param;
  float* out_moment;
  float* out_mean;
  float* out_square_mean;
  float beta;
  bool nesterov;

  CAFFE2RT_SIMD_INLINE float Rate() const { return *rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g], mu = *momentum, before = moment[i];
    const float after = mu * before + r * d;
    out_mean[i] = beta * mean[i] + (1.0f - beta) * d;
    out_square_mean[i] = beta * square_mean[i] + (1.0f - beta) * d * d;
    out_param[i] = param[i] - (nesterov ? (1.0f + mu) * after - mu * before : after);
    out_moment[i] = after;
  }
};

// The numbers of YellowFin: from the sums of an iteration, the curvature's range, the distance to
// the optimum, and the new rate and momentum. One thread runs it once, after the elements.
struct YellowFinNumbers {
  const float* sums;    // of YellowFinSums
  const float* window;  // the logarithms of |grad|^2 of the last iterations
  const float* memory;  // [5] averages: |grad|, |grad|^2, least and most of the window, distance
  const float* rate;
  const float* momentum;
  float* out_window;
  float* out_memory;
  float* out_rate;
  float* out_momentum;
  int64_t iteration, width;  // the first iteration is 1
  float beta, debias, epsilon;

  CAFFE2RT_HOST_DEVICE float Average(float before, float value) const {
    return beta * before + (1.0f - beta) * value;
  }

  CAFFE2RT_HOST_DEVICE void operator()(int64_t) const {
    const float square = sums[0] > epsilon ? sums[0] : epsilon;
    for (int64_t i = 0; i < width; ++i) out_window[i] = window[i];
    out_window[(iteration - 1) % width] = std::log(square);
    const int64_t valid = iteration < width ? iteration : width;
    float least = out_window[0], most = out_window[0];
    for (int64_t i = 1; i < valid; ++i) {
      if (out_window[i] < least) least = out_window[i];
      if (out_window[i] > most) most = out_window[i];
    }
    const float norm = Average(memory[0], std::sqrt(square));
    const float square_norm = Average(memory[1], square);
    const float log_least = Average(memory[2], least), log_most = Average(memory[3], most);
    const float distance = Average(memory[4], norm / square_norm);
    out_memory[0] = norm;
    out_memory[1] = square_norm;
    out_memory[2] = log_least;
    out_memory[3] = log_most;
    out_memory[4] = distance;
    float new_rate = *rate, new_momentum = *momentum;
    if (iteration > 1) {
      const float variance = square_norm * debias - sums[1];
      Tune(std::exp(log_least * debias), std::exp(log_most * debias), distance * debias,
           variance > epsilon ? variance : epsilon, &new_rate, &new_momentum);
    }
    *out_rate = new_rate;
    *out_momentum = new_momentum;
  }

  // Minimizes the expected distance after one step of a quadratic with curvatures in [least, most]:
  // the root of the momentum solves the cubic (1 - x)^3 = p * x with p as below.
  CAFFE2RT_HOST_DEVICE void Tune(float least, float most, float distance, float variance, float* r,
                                 float* mu) const {
    const float p = distance * least * distance * least / (2.0f * variance);
    const float cube = (-std::sqrt(p * p + 4.0f / 27.0f * p * p * p) - p) / 2.0f;
    const float w = -std::pow(-cube, 1.0f / 3.0f);
    const float root = w - p / (3.0f * w) + 1.0f;
    const float ratio = std::sqrt(most / least);
    const float robust = (ratio - 1.0f) / (ratio + 1.0f);
    // NaN if the numbers overflow.
    const float target = root * root < robust * robust ? robust * robust : root * root;
    const float step = 1.0f - std::sqrt(target);
    *mu = Average(*mu, target);
    *r = Average(*r, step * step / least);
  }
};

void ComputeYellowFinSums(CPUContext& context, int64_t n, const YellowFinSums& sums,
                          Tensor* scratch);
void ComputeYellowFinSums(CUDAContext& context, int64_t n, const YellowFinSums& sums,
                          Tensor* scratch);
void ComputeYellowFinNumbers(CPUContext& context, const YellowFinNumbers& numbers);
void ComputeYellowFinNumbers(CUDAContext& context, const YellowFinNumbers& numbers);

}  // namespace caffe2rt
