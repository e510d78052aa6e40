// NanCheck and EnforceFinite on CUDA. They wait for the result of the search.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/finite_checks.h"

namespace caffe2rt {

namespace {

template <class T>
NotFinite Find(CUDAContext& context, int64_t n, const T* x, Tensor* found, Tensor* scratch) {
  found->Resize(sizeof(NotFinite));
  scratch->Resize(NotFiniteScratchBytes());
  auto* const on_device = reinterpret_cast<NotFinite*>(found->mutable_data<uint8_t>());
  FindNotFinite(context, n, x, on_device, scratch->mutable_data<uint8_t>());
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
