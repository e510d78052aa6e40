#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/select_smooth_l1_loss.h"

namespace caffe2rt {

void RegisterSelectSmoothL1LossCuda() {
  RegisterOperator<SelectSmoothL1LossOp<CUDAContext>>(CUDA, "SelectSmoothL1Loss", __FILE__);
  RegisterOperator<SelectSmoothL1LossGradientOp<CUDAContext>>(CUDA, "SelectSmoothL1LossGradient",
                                                              __FILE__);
}

}  // namespace caffe2rt
