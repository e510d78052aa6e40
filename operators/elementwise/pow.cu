// Pow on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/map.cuh"
#include "operators/elementwise/pow.h"
#include "operators/elementwise/pow_functions.h"

namespace caffe2rt {

void PowerOf(CUDAContext& context, int64_t n, const float* x, float exponent, float* y) {
  WithPower(exponent, [&](const auto& function) { Map(context, n, x, y, function); });
}

void PowersOf(CUDAContext& context, int64_t n, const float* a, const float* b, float* y) {
  Zip(context, n, a, b, y, PowerFunction{});
}

void PowersOf(CUDAContext& context, const BroadcastPlan& plan, const float* a, const float* b,
              float* y) {
  ZipBroadcast(context, plan, a, b, y, PowerFunction{});
}

void RegisterPowCuda() { RegisterOperator<PowOp<CUDAContext>>(CUDA, "Pow", __FILE__); }

}  // namespace caffe2rt
