#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/sigmoid_focal_loss.h"

namespace caffe2rt {

void RegisterSigmoidFocalLossCuda() {
  RegisterOperator<SigmoidFocalLossOp<CUDAContext>>(CUDA, "SigmoidFocalLoss", __FILE__);
  RegisterOperator<SigmoidFocalLossGradientOp<CUDAContext>>(CUDA, "SigmoidFocalLossGradient",
                                                            __FILE__);
}

}  // namespace caffe2rt
