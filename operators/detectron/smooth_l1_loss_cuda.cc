#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/smooth_l1_loss.h"

namespace caffe2rt {

void RegisterSmoothL1LossCuda() {
  RegisterOperator<SmoothL1LossOp<CUDAContext>>(CUDA, "SmoothL1Loss", __FILE__);
  RegisterOperator<SmoothL1LossGradientOp<CUDAContext>>(CUDA, "SmoothL1LossGradient", __FILE__);
}

}  // namespace caffe2rt
