#pragma once
// The kernels of Normalize, NormalizeL1 and NormalizeGradient.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

enum class Norm { kL1, kL2 };

// A tensor as [outer, size, inner]: there are outer * inner runs of `size` elements, which are
// `inner` elements apart.
struct AxisRuns {
  int64_t outer = 0, size = 0, inner = 0;
};

// The least divisor of Normalize.
inline constexpr float kLeastNorm = 1e-12f;

void NormalizeRuns(CPUContext& context, const AxisRuns& runs, Norm norm, const float* x, float* y);
void NormalizeRuns(CUDAContext& context, const AxisRuns& runs, Norm norm, const float* x, float* y);

// With the L2 norm: dx = dy / norm - x * (sum of x * dy) / norm^3.
void NormalizeRunsGradient(CPUContext& context, const AxisRuns& runs, const float* x,
                           const float* dy, float* dx);
void NormalizeRunsGradient(CUDAContext& context, const AxisRuns& runs, const float* x,
                           const float* dy, float* dx);

}  // namespace caffe2rt
