// Copies on CUDA, and between CUDA and the CPU.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/copies.h"

namespace caffe2rt {

void RegisterCopiesCuda() {
  for (const char* type : {"Copy", "CopyOnDeviceLike", "StopGradient", "NegateGradient"}) {
    RegisterOperator<CopyOp<CUDAContext>>(CUDA, type, __FILE__);
  }
  for (const char* type : {"CopyFromCPUInput", "CopyCPUToGPU"}) {
    RegisterOperator<CopyFromAnywhereOp<CUDAContext>>(CUDA, type, __FILE__);
  }
  for (const char* type : {"EnsureCPUOutput", "CopyGPUToCPU"}) {
    RegisterOperator<CopyToCpuOp<CUDAContext>>(CUDA, type, __FILE__);
  }
  RegisterOperator<AliasOp<CUDAContext>>(CUDA, "Alias", __FILE__);
  RegisterOperator<AliasOp<CUDAContext, true>>(CUDA, "AliasWithName", __FILE__);
  RegisterOperator<NoOutputOp<CUDAContext>>(CUDA, "ZeroGradient", __FILE__);
}

}  // namespace caffe2rt
