#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/channel_shuffle.h"

namespace caffe2rt {

void RegisterChannelShuffleCuda() {
  RegisterOperator<ChannelShuffleOp<CUDAContext, false>>(CUDA, "ChannelShuffle", __FILE__);
  RegisterOperator<ChannelShuffleOp<CUDAContext, true>>(CUDA, "ChannelShuffleGradient", __FILE__);
}

}  // namespace caffe2rt
