#pragma once
// LpPool: the norm (sum of |x|^p)^(1/p) of windows that slide over X [N, C, H, W] or [N, H, W, C].
// Padding counts as zeros.
//
// LpPoolGradient: X, Y, dY  ->  dX, the sum of dY x |x|^(p - 2) / y^(p - 1) over the windows. As in
// Caffe2, it is NaN where that is 0 / 0: in a window of zeros, and for p below 2 at every 0 in X.

#include <vector>

#include "operators/pool/pool.h"
#include "operators/pool/pool_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kLpPoolPower{"p", 2, "exponent of the norm"};

// Runner policies of PoolOp and PoolGradientOp (pool.h). A norm is computed from the mean of
// |x|^p over the whole window, and its gradient from the gradient of that mean.
class LpPoolOnCpu {
 public:
  explicit LpPoolOnCpu(const OperatorBase& op) : p_(op.ReadArgument(kLpPoolPower)) {}
  // THROWS if there are not two axes.
  void Plan(const WindowGeometry& geometry, bool global, bool include_pad);
  void Run(CPUContext& context, const float* x, float* y);

 private:
  const float p_;
  PoolPlan plan_;
  std::vector<float> powers_;  // |x|^p
  std::vector<float> scratch_;
};
class LpPoolGradientOnCpu {
 public:
  explicit LpPoolGradientOnCpu(const OperatorBase& op) : p_(op.ReadArgument(kLpPoolPower)) {}
  void Plan(const WindowGeometry& geometry, bool global, bool include_pad);
  void Run(CPUContext& context, const PoolGradientData& data);

 private:
  const float p_;
  PoolPlan plan_;
  std::vector<float> shares_;  // dY / y^(p - 1)
  ThreadScratch scratch_;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The plan of a norm. THROWS if there are not two axes.
PoolPlan MakeLpPoolPlan(const WindowGeometry& geometry, bool global);
#pragma GCC visibility pop

}  // namespace caffe2rt
