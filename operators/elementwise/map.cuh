#pragma once
// The kernels of elementwise operators on CUDA: map.h's functions for a CUDAContext. A function is
// a struct of plain numbers whose operator() is CAFFE2RT_SIMD_INLINE, the same as on the CPU.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_kernel.cuh"

namespace caffe2rt {

namespace internal {
template <class T, class R, class Function>
struct CudaMap {
  const T* x;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = function(x[i]); }
};
}  // namespace internal

template <class T, class R, class Function>
void Map(CUDAContext& context, int64_t n, const T* x, R* y, const Function& f) {
  ForEach(context, n, internal::CudaMap<T, R, Function>{x, y, f}, "Map");
}

}  // namespace caffe2rt
