#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/norm/lrn.h"

namespace caffe2rt {

void RegisterLrnCuda() {
  RegisterOperator<LRNOp<CUDAContext>>(CUDA, "LRN", __FILE__, "NATIVE");
  RegisterOperator<LRNGradientOp<CUDAContext>>(CUDA, "LRNGradient", __FILE__, "NATIVE");
  // With cuDNN, the default engine falls back to the native kernel by itself (lrn_cudnn.cc).
  if (CudnnIsInThisBuild()) return;
  RegisterOperator<LRNOp<CUDAContext>>(CUDA, "LRN", __FILE__);
  RegisterOperator<LRNGradientOp<CUDAContext>>(CUDA, "LRNGradient", __FILE__);
}

}  // namespace caffe2rt
