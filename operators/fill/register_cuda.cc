#include "operators/fill/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterFillCudaOperators() {
  RegisterConstantFillsCuda();
  RegisterRandomFillsCuda();
  // Without kernels: what the CPU has.
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "GivenTensorByteStringToUInt8Fill", __FILE__);
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "UniqueUniformFill", __FILE__);
}

}  // namespace caffe2rt
