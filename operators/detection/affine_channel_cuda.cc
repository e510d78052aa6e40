#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/affine_channel.h"

namespace caffe2rt {

void RegisterAffineChannelCuda() {
  RegisterOperator<AffineChannelOp<CUDAContext>>(CUDA, "AffineChannel", __FILE__);
  RegisterOperator<AffineChannelGradientOp<CUDAContext>>(CUDA, "AffineChannelGradient", __FILE__);
}

}  // namespace caffe2rt
