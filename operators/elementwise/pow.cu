// The kernels of Pow.

#include "operators/elementwise/map.cuh"
#include "operators/elementwise/pow_functions.h"
#include "operators/elementwise/pow_kernels.h"

namespace caffe2rt {

void PowerOf(CUDAContext& context, int64_t n, const float* x, float exponent, float* y) {
  WithPower(exponent, [&](const auto& function) { Map(context, n, x, y, function); });
}

void PowersOf(CUDAContext& context, int64_t n, const float* a, const float* b, float* y) {
  Zip(context, n, a, b, y, PowerFunction{});
}

void PowersOf(CUDAContext& context, const BroadcastLoops& loops, const float* a, const float* b,
              float* y) {
  ZipBroadcast(context, loops, a, b, y, PowerFunction{});
}

}  // namespace caffe2rt
