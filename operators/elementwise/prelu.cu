// The kernels of PRelu and PReluGradient.

#include "operators/elementwise/map.cuh"
#include "operators/elementwise/operand_gradient.cuh"
#include "operators/elementwise/prelu_kernels.h"

namespace caffe2rt {

void PRelu(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y) {
  if (outer == 0 || channels == 0 || inner == 0) return;
  internal::CudaZipBroadcast<float, float, PReluFunction> kernel{{}, x, slopes, y, {}};
  kernel.nest.Add(outer, {channels * inner, 0});
  kernel.nest.Add(channels, {inner, 1});
  kernel.nest.Add(inner, {1, 0});
  ForEach(context, outer * channels * inner, kernel, "PRelu");
}

void PReluGradient(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner,
                   const float* x, const float* slopes, const float* dy, float* dx,
                   float* dslopes) {
  const BroadcastLoops loops = PReluLoops(outer, channels, inner);
  OperandGradient<Operand::kA>(context, loops, x, slopes, dy, dy, dx, PReluFunction{});
  OperandGradient<Operand::kB>(context, loops, x, slopes, dy, dy, dslopes, PReluFunction{});
}

}  // namespace caffe2rt
