// The random fills on CUDA: GaussianFill, MSRAFill, UniformFill, UniformIntFill, XavierFill.

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/fill/gaussian_fill.h"
#include "operators/fill/msra_fill.h"
#include "operators/fill/random_fill.h"
#include "operators/fill/register_cuda.h"
#include "operators/fill/uniform_fill.h"
#include "operators/fill/xavier_fill.h"
#include "operators/math/philox.cuh"

namespace caffe2rt {

void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, float low, float high,
                 float* y) {
  math::ForEachDraw(context, draws, n, math::MakeUniform{low, high - low, y}, "FillUniform");
}
void FillUniform(CUDAContext& context, uint64_t* draws, int64_t n, int32_t low, int32_t high,
                 int32_t* y) {
  const auto range = static_cast<uint64_t>(int64_t{high} - int64_t{low} + 1);
  math::ForEachDraw(context, draws, n, math::MakeUniformInt{low, range, y}, "FillUniform");
}
void FillNormal(CUDAContext& context, uint64_t* draws, int64_t n, float mean, float std, float* y) {
  math::ForEachDraw(context, draws, n, math::MakeNormal{mean, std, y}, "FillNormal");
}

void RegisterRandomFillsCuda() {
  RegisterOperator<GaussianFillOp<CUDAContext>>(CUDA, "GaussianFill", __FILE__);
  RegisterOperator<MSRAFillOp<CUDAContext>>(CUDA, "MSRAFill", __FILE__);
  RegisterOperator<UniformFillOp<float, CUDAContext>>(CUDA, "UniformFill", __FILE__);
  RegisterOperator<UniformFillOp<int32_t, CUDAContext>>(CUDA, "UniformIntFill", __FILE__);
  RegisterOperator<XavierFillOp<CUDAContext>>(CUDA, "XavierFill", __FILE__);
}

}  // namespace caffe2rt
