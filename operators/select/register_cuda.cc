#include "operators/select/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/gpu_fallback.h"
#include "operators/select/print.h"

namespace caffe2rt {

void RegisterSelectCudaOperators() {
  RegisterAccuracyCuda();
  RegisterArgMaxCuda();
  RegisterPrintCuda();
  RegisterTopKCuda();
  // Without kernels: what the CPU has.
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "BatchOneHot", __FILE__);
}

void RegisterPrintCuda() { RegisterOperator<PrintOp<CUDAContext>>(CUDA, "Print", __FILE__); }

}  // namespace caffe2rt
