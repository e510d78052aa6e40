#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/softmax_with_loss.h"

namespace caffe2rt {

void RegisterSoftmaxWithLossCuda() {
  RegisterOperator<SoftmaxWithLossOp<CUDAContext, false>>(CUDA, "SoftmaxWithLoss", __FILE__);
  RegisterOperator<SoftmaxWithLossGradientOp<CUDAContext, false>>(CUDA, "SoftmaxWithLossGradient",
                                                                  __FILE__);
  RegisterOperator<SoftmaxWithLossOp<CUDAContext, true>>(CUDA, "SpatialSoftmaxWithLoss", __FILE__);
  RegisterOperator<SoftmaxWithLossGradientOp<CUDAContext, true>>(
      CUDA, "SpatialSoftmaxWithLossGradient", __FILE__);
}

}  // namespace caffe2rt
