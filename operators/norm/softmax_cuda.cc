#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/norm/softmax.h"

namespace caffe2rt {

void RegisterSoftmaxCuda() {
  RegisterOperator<SoftmaxOp<CUDAContext>>(CUDA, "Softmax", __FILE__, "NATIVE");
  // Else it is the default where cuDNN does not take the arguments (softmax_cudnn.cc).
  if (!CudnnIsInThisBuild()) RegisterOperator<SoftmaxOp<CUDAContext>>(CUDA, "Softmax", __FILE__);
}

}  // namespace caffe2rt
