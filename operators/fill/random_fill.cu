// Random fills on CUDA, used by GaussianFill, MSRAFill, UniformFill, UniformIntFill and XavierFill.
// Exact: uniform numbers are a function of the seed that a program can compute on the host.

#include "operators/fill/random_fill_kernels.h"
#include "operators/primitives/philox.cuh"

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

}  // namespace caffe2rt
