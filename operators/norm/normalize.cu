// Normalize, NormalizeL1 and NormalizeGradient on CUDA: a warp or block computes one run.

#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/norm/normalize_kernels.h"

namespace caffe2rt {

namespace {

// The offset of the first element of a run.
CAFFE2RT_HOST_DEVICE inline int64_t StartOf(const AxisRuns& runs, const Row& row) {
  return row.index() / runs.inner * runs.size * runs.inner + row.index() % runs.inner;
}

struct NormalizeRun {
  AxisRuns runs;
  Norm norm;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t start = StartOf(runs, row), step = runs.inner;
    const bool l1 = norm == Norm::kL1;
    const double sum = row.Reduce(runs.size, 0.0, Plus(), [=, this](int64_t i) {
      const double value = x[start + i * step];
      return l1 ? std::fabs(value) : value * value;
    });
    float divisor = static_cast<float>(l1 ? sum : std::sqrt(sum));
    if (l1 && divisor == 0) divisor = 1;
    if (!l1 && divisor < kLeastNorm) divisor = kLeastNorm;
    row.ForEach(runs.size, [=, this](int64_t i) {
      const int64_t at = start + i * step;
      y[at] = x[at] / divisor;
    });
  }
};

struct NormalizeGradientRun {
  AxisRuns runs;
  const float* x;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t start = StartOf(runs, row), step = runs.inner;
    const double squares = row.Reduce(runs.size, 0.0, Plus(), [=, this](int64_t i) {
      const double value = x[start + i * step];
      return value * value;
    });
    const double product = row.Reduce(runs.size, 0.0, Plus(), [=, this](int64_t i) {
      return static_cast<double>(x[start + i * step]) * static_cast<double>(dy[start + i * step]);
    });
    const double root = std::sqrt(squares);
    const double norm = root < kLeastNorm ? kLeastNorm : root;
    const float factor = static_cast<float>(1 / norm);
    const float slope = static_cast<float>(product / (norm * norm * norm));
    row.ForEach(runs.size, [=, this](int64_t i) {
      const int64_t at = start + i * step;
      dx[at] = dy[at] * factor - x[at] * slope;
    });
  }
};

}  // namespace

void NormalizeRuns(CUDAContext& context, const AxisRuns& runs, Norm norm, const float* x,
                   float* y) {
  ForEachRowOf(context, runs.size, runs.outer * runs.inner, NormalizeRun{runs, norm, x, y},
               "Normalize");
}

void NormalizeRunsGradient(CUDAContext& context, const AxisRuns& runs, const float* x,
                           const float* dy, float* dx) {
  ForEachRowOf(context, runs.size, runs.outer * runs.inner, NormalizeGradientRun{runs, x, dy, dx},
               "NormalizeGradient");
}

}  // namespace caffe2rt
