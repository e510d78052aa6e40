#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/optimizer/rate_kernels.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

void ComputeLarsRate(CUDAContext& context, int64_t n, const LarsRate& rate, Tensor* scratch) {
  ReduceAll(context, n, rate, scratch, "Lars");
}

void ComputeYellowFinSums(CUDAContext& context, int64_t n, const YellowFinSums& sums,
                          Tensor* scratch) {
  ReduceAll(context, n, sums, scratch, "YellowFin");
}

void ComputeYellowFinNumbers(CUDAContext& context, const YellowFinNumbers& numbers) {
  ForEach(context, 1, numbers, "YellowFin");
}

}  // namespace caffe2rt
