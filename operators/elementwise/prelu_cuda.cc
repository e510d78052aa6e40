#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/prelu.h"

namespace caffe2rt {

void RegisterPreluCuda() {
  RegisterOperator<PReluOp<CUDAContext>>(CUDA, "PRelu", __FILE__);
  RegisterOperator<PReluGradientOp<CUDAContext>>(CUDA, "PReluGradient", __FILE__);
}

}  // namespace caffe2rt
