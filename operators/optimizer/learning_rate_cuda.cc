#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/learning_rate.h"

namespace caffe2rt {

void RegisterLearningRateCuda() {
  RegisterOperator<LearningRateOp<CUDAContext>>(CUDA, "LearningRate", __FILE__);
}

}  // namespace caffe2rt
