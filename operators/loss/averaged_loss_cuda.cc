#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/averaged_loss.h"

namespace caffe2rt {

void RegisterAveragedLossCuda() {
  RegisterOperator<AveragedLossOp<CUDAContext>>(CUDA, "AveragedLoss", __FILE__);
  RegisterOperator<AveragedLossGradientOp<CUDAContext>>(CUDA, "AveragedLossGradient", __FILE__);
}

}  // namespace caffe2rt
