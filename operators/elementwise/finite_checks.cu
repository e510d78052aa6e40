// NanCheck and EnforceFinite on CUDA: they wait for what the device finds.

#include <cmath>

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/finite_checks.h"
#include "operators/elementwise/map.cuh"
#include "operators/math/reduce_all.cuh"

namespace caffe2rt {

namespace {

// The lowest index of an element that is not finite, else n.
template <class T>
struct FindNotFinite {
  using Value = int64_t;
  int64_t n;
  const T* x;
  NotFinite* found;
  CAFFE2RT_HOST_DEVICE Value Start() const { return n; }
  // x - x is 0 for finite numbers alone.
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return x[i] - x[i] == T(0) ? n : i; }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a < b ? a : b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value first) const {
    found->index = first;
    found->value = first < n ? static_cast<double>(x[first]) : 0.0;
  }
};

template <class T>
NotFinite Find(CUDAContext& context, int64_t n, const T* x, Tensor* found, Tensor* scratch) {
  found->Resize(sizeof(NotFinite));
  auto* const on_device = reinterpret_cast<NotFinite*>(found->mutable_data<uint8_t>());
  ReduceAll(context, n, FindNotFinite<T>{n, x, on_device}, scratch, "FirstNotFinite");
  NotFinite result;
  context.CopyBytesToCPU(sizeof(result), on_device, &result);
  context.FinishDeviceComputation();
  return result;
}

}  // namespace

NotFinite FirstNotFinite(CUDAContext& context, int64_t n, const float* x, Tensor* found,
                         Tensor* scratch) {
  return Find(context, n, x, found, scratch);
}
NotFinite FirstNotFinite(CUDAContext& context, int64_t n, const double* x, Tensor* found,
                         Tensor* scratch) {
  return Find(context, n, x, found, scratch);
}

void RegisterFiniteChecksCuda() {
  RegisterOperator<FiniteCheckOp<CUDAContext>>(CUDA, "NanCheck", __FILE__);
  RegisterOperator<FiniteCheckOp<CUDAContext>>(CUDA, "EnforceFinite", __FILE__);
}

}  // namespace caffe2rt
