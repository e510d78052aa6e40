#include "operators/pool/lp_pool.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

// y[i] = |x[i]|^p
CAFFE2RT_SIMD_FMA void Powers(float p, const float* x, int64_t n, float* y) {
  if (p == 2) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * x[i];
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = std::pow(std::fabs(x[i]), p);
  }
}
// y[i] = (y[i] * size)^(1/p)
CAFFE2RT_SIMD_FMA void Roots(float p, float size, int64_t n, float* y) {
  if (p == 2) {
    for (int64_t i = 0; i < n; ++i) y[i] = std::sqrt(y[i] * size);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = std::pow(y[i] * size, 1 / p);
  }
}
// share[i] = dy[i] * size / y[i]^(p - 1)
CAFFE2RT_SIMD_FMA void Shares(float p, float size, const float* y, const float* dy, int64_t n,
                              float* share) {
  if (p == 2) {
    for (int64_t i = 0; i < n; ++i) share[i] = dy[i] * size / y[i];
  } else {
    for (int64_t i = 0; i < n; ++i) share[i] = dy[i] * size / std::pow(y[i], p - 1);
  }
}
// dx[i] *= x[i] |x[i]|^(p - 2)
CAFFE2RT_SIMD_FMA void Slopes(float p, const float* x, int64_t n, float* dx) {
  if (p == 2) {
    for (int64_t i = 0; i < n; ++i) dx[i] *= x[i];
  } else {
    for (int64_t i = 0; i < n; ++i) dx[i] *= x[i] * std::pow(std::fabs(x[i]), p - 2);
  }
}

// Calls function(first, count) for parts of [0, n), on several threads if n is large.
template <class F>
void ForParts(int64_t n, F function) {
  constexpr int64_t kElementsPerPiece = 16384;
  const int64_t pieces = std::min<int64_t>(GetNumThreads(), n / kElementsPerPiece + 1);
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    const int64_t first = n * piece / pieces, last = n * (piece + 1) / pieces;
    function(first, last - first);
  });
}

struct Sizes {
  int64_t in = 1, out = 1, kernel = 1;
};
Sizes SizesOf(const PoolPlan& plan) {
  const int64_t planes = plan.batch * plan.channels;
  Sizes sizes{planes, planes, 1};
  for (const WindowAxis& axis : plan.axis) {
    sizes.in *= axis.in;
    sizes.out *= axis.out;
    sizes.kernel *= axis.kernel;
  }
  return sizes;
}

}  // namespace

PoolPlan MakeLpPoolPlan(const WindowGeometry& geometry, bool global) {
  CAFFE_ENFORCE_EQ(geometry.axes, 2, "spatial axes of input 0 (X), want 2");
  return MakePoolPlan(geometry, global, /*include_pad=*/true);
}

void LpPoolOnCpu::Plan(const WindowGeometry& geometry, bool global, bool) {
  plan_ = MakeLpPoolPlan(geometry, global);
  powers_.resize(static_cast<size_t>(SizesOf(plan_).in));
  scratch_.clear();
}

void LpPoolOnCpu::Run(CPUContext& context, const float* x, float* y) {
  const Sizes sizes = SizesOf(plan_);
  float* const powers = powers_.data();
  ForParts(sizes.in,
           [&](int64_t first, int64_t count) { Powers(p_, x + first, count, powers + first); });
  MeanReduction::Run(context, plan_, powers, &scratch_, y);
  Roots(p_, static_cast<float>(sizes.kernel), sizes.out, y);
}

void LpPoolGradientOnCpu::Plan(const WindowGeometry& geometry, bool global, bool) {
  plan_ = MakeLpPoolPlan(geometry, global);
  shares_.resize(static_cast<size_t>(SizesOf(plan_).out));
}

void LpPoolGradientOnCpu::Run(CPUContext&, const PoolGradientData& data) {
  const Sizes sizes = SizesOf(plan_);
  Shares(p_, static_cast<float>(sizes.kernel), data.y, data.dy, sizes.out, shares_.data());
  MeanReduction::RunGradient(plan_, {data.x, data.y, shares_.data(), data.dx}, &scratch_);
  ForParts(sizes.in, [&](int64_t first, int64_t count) {
    Slopes(p_, data.x + first, count, data.dx + first);
  });
}

void RegisterLpPool() {
  RegisterPoolSchema("LpPool", __FILE__,
                     "Pooling by a norm: (sum of |x|^p)^(1/p) of each window that slides over the "
                     "two axes of the input. Padding counts as zeros.",
                     kLpPoolPower);
  RegisterCpuOperator<PoolOp<CPUContext, LpPoolOnCpu>>("LpPool", __FILE__);
  RegisterPoolGradientSchema("LpPool", __FILE__,
                             "The gradient of LpPool: dY x |x|^(p - 2) / y^(p - 1), added up over "
                             "the windows. It is NaN in "
                             "a window of zeros, and for p below 2 where X is 0.",
                             kLpPoolPower);
  RegisterCpuOperator<PoolGradientOp<CPUContext, LpPoolGradientOnCpu>>("LpPoolGradient", __FILE__);
}

}  // namespace caffe2rt
