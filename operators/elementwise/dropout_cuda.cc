#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/dropout.h"

namespace caffe2rt {

void RegisterDropoutCuda() {
  RegisterOperator<DropoutOp<CUDAContext>>(CUDA, "Dropout", __FILE__);
  RegisterOperator<DropoutGradOp<CUDAContext>>(CUDA, "DropoutGrad", __FILE__);
}

}  // namespace caffe2rt
