#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/sigmoid_cross_entropy_loss.h"

namespace caffe2rt {

void RegisterSigmoidCrossEntropyLossCuda() {
  RegisterOperator<SigmoidCrossEntropyLossOp<CUDAContext>>(CUDA, "SigmoidCrossEntropyLoss",
                                                           __FILE__);
  RegisterOperator<SigmoidCrossEntropyLossGradientOp<CUDAContext>>(
      CUDA, "SigmoidCrossEntropyLossGradient", __FILE__);
}

}  // namespace caffe2rt
