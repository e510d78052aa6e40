#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/normalize.h"

namespace caffe2rt {

void RegisterNormalizeCuda() {
  RegisterOperator<NormalizeOp<CUDAContext, Norm::kL2>>(CUDA, "Normalize", __FILE__);
  RegisterOperator<NormalizeGradientOp<CUDAContext>>(CUDA, "NormalizeGradient", __FILE__);
  RegisterOperator<NormalizeOp<CUDAContext, Norm::kL1>>(CUDA, "NormalizeL1", __FILE__);
}

}  // namespace caffe2rt
