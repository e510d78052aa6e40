#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/softmax_focal_loss.h"

namespace caffe2rt {

void RegisterSoftmaxFocalLossCuda() {
  RegisterOperator<SoftmaxFocalLossOp<CUDAContext>>(CUDA, "SoftmaxFocalLoss", __FILE__);
  RegisterOperator<SoftmaxFocalLossGradientOp<CUDAContext>>(CUDA, "SoftmaxFocalLossGradient",
                                                            __FILE__);
}

}  // namespace caffe2rt
