#include "operators/select/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/print.h"

namespace caffe2rt {

void RegisterSelectCudaOperators() {
  RegisterAccuracyCuda();
  RegisterArgMaxCuda();
  RegisterPrintCuda();
  RegisterTopKCuda();
}

void RegisterPrintCuda() { RegisterOperator<PrintOp<CUDAContext>>(CUDA, "Print", __FILE__); }

}  // namespace caffe2rt
