#pragma once
// Follow the regularized leader, proximal (McMahan et al. 2013).
//   Ftrl: var, nz [.., 2], grad, optional alpha [1]  ->  var, nz
//   SparseFtrl: var [rows, row..], nz [rows, row.., 2], indices, grad, optional alpha [1]
//     ->  var, nz (in place); grad has a row of var for each index
//   GFtrl: as Ftrl, with the lasso over groups: a group is a column of grad as a matrix
//     [first dimension, other dimensions]
//
// nz holds for each element n, the sum of the squared gradients, and z. An update computes
// n' = n + grad^2, z' = z + grad - (sqrt(n') - sqrt(n)) / alpha * var and sets var to
// (lambda1 * sign(z') - z') / ((beta + sqrt(n')) / alpha + lambda2), or to 0 if |z'| <= lambda1.
// GFtrl compares the norm of z' over the group with lambda1 * sqrt(size of the group).

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kFtrlAlpha{
    "alpha", 0.005f, "the learning rate, unless it is given as an input"};
inline constexpr ArgumentSpec<float> kFtrlBeta{"beta", 1.0f, "is added to the root of n"};
inline constexpr ArgumentSpec<float> kFtrlLambda1{"lambda1", 0.001f, "the weight of the L1 norm"};
inline constexpr ArgumentSpec<float> kFtrlLambda2{"lambda2", 0.001f, "the weight of the L2 norm"};

struct FtrlNumbers {
  float beta, lambda1, lambda2;
};

// The rule of Ftrl (update_rules.h). The learning rate is alpha.
struct FtrlRule {
  static constexpr bool kPerRow = false;
  float alpha;
  const float* var;
  const float* nz;
  const float* grad;
  float* out_var;
  float* out_nz;
  FtrlNumbers numbers;

  CAFFE2RT_SIMD_INLINE float Rate() const { return 1.0f / alpha; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float inverse_alpha) const {
    const float d = grad[g], n = nz[2 * i];
    const float next = n + d * d, root = std::sqrt(next);
    const float z = nz[2 * i + 1] + d - (root - std::sqrt(n)) * inverse_alpha * var[i];
    const float divisor = (numbers.beta + root) * inverse_alpha + numbers.lambda2;
    const float target = (z > 0.0f ? numbers.lambda1 : -numbers.lambda1) - z;
    out_var[i] = std::abs(z) > numbers.lambda1 ? target / divisor : 0.0f;
    out_nz[2 * i] = next;
    out_nz[2 * i + 1] = z;
  }
};

// Reads the arguments; and alpha, from the argument or from input `place`.
class FtrlArguments {
 public:
  FtrlArguments(const OperatorBase& op, int place)
      : place_(place),
        alpha_(op.ReadArgument(kFtrlAlpha)),
        numbers_{op.ReadArgument(kFtrlBeta), op.ReadArgument(kFtrlLambda1),
                 op.ReadArgument(kFtrlLambda2)} {
    CAFFE_ENFORCE(!op.HasArgument(kFtrlAlpha) || op.InputSize() <= place,
                  "alpha is given by both the argument and input ", place, ": remove one");
  }
  float Alpha(const OperatorBase& op) const {
    if (op.InputSize() <= place_) return alpha_;
    const Tensor& alpha = op.InputTensor(place_, CPU);
    CAFFE_ENFORCE_EQ(alpha.numel(), 1, "elements of input ", place_, " (alpha) of shape ",
                     alpha.sizes());
    return *alpha.data<float>();
  }
  const FtrlNumbers& numbers() const { return numbers_; }

 private:
  const int place_;
  const float alpha_;
  const FtrlNumbers numbers_;
};

}  // namespace caffe2rt
