#pragma once
// The kernels of elementwise operators on CUDA: map.h's functions for a CUDAContext. A function is
// a struct of plain numbers whose operator() is CAFFE2RT_SIMD_INLINE, the same as on the CPU.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/broadcast.h"
#include "operators/common/loop_nest.h"

namespace caffe2rt {

namespace internal {
template <class T, class R, class Function>
struct CudaMap {
  const T* x;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = function(x[i]); }
};

template <class T, class R, class Function>
struct CudaZip {
  const T* a;
  const T* b;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = function(a[i], b[i]); }
};

template <class T, class R, class Function>
struct CudaZipBroadcast {
  LoopNest<2> nest;
  const T* a;
  const T* b;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    nest.Find(i, at);
    y[i] = function(a[at[0]], b[at[1]]);
  }
};
}  // namespace internal

template <class T, class R, class Function>
void Map(CUDAContext& context, int64_t n, const T* x, R* y, const Function& f) {
  ForEach(context, n, internal::CudaMap<T, R, Function>{x, y, f}, "Map");
}

template <class T, class R, class Function>
void Zip(CUDAContext& context, int64_t n, const T* a, const T* b, R* y, const Function& f) {
  ForEach(context, n, internal::CudaZip<T, R, Function>{a, b, y, f}, "Zip");
}

template <class T, class R, class Function>
void ZipBroadcast(CUDAContext& context, const BroadcastPlan& plan, const T* a, const T* b, R* y,
                  const Function& f) {
  internal::CudaZipBroadcast<T, R, Function> kernel{{}, a, b, y, f};
  const auto add = [&kernel](const BroadcastPlan::Loop& loop) {
    kernel.nest.Add(loop.size, {loop.a_stride, loop.b_stride});
  };
  for (int i = 0; i < plan.outer_count(); ++i) add(plan.outer(i));
  add(plan.middle());
  add(plan.inner());
  ForEach(context, plan.output_size(), kernel, "ZipBroadcast");
}

}  // namespace caffe2rt
