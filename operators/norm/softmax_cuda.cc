#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/norm/softmax.h"

namespace caffe2rt {

void RegisterSoftmaxCuda() {
  RegisterOperator<SoftmaxOp<CUDAContext>>(CUDA, "Softmax", __FILE__, "NATIVE");
  RegisterOperator<SoftmaxGradientOp<CUDAContext>>(CUDA, "SoftmaxGradient", __FILE__, "NATIVE");
  // With cuDNN, the default engine falls back to the native kernel by itself (softmax_cudnn.cc).
  if (CudnnIsInThisBuild()) return;
  RegisterOperator<SoftmaxOp<CUDAContext>>(CUDA, "Softmax", __FILE__);
  RegisterOperator<SoftmaxGradientOp<CUDAContext>>(CUDA, "SoftmaxGradient", __FILE__);
}

}  // namespace caffe2rt
