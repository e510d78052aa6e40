#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/channel_shuffle.h"

namespace caffe2rt {

void RegisterChannelShuffleCuda() {
  RegisterOperator<ChannelShuffleOp<CUDAContext>>(CUDA, "ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
