#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/channel_backprop_stats.h"

namespace caffe2rt {

void RegisterChannelBackpropStatsCuda() {
  RegisterOperator<ChannelBackpropStatsOp<CUDAContext>>(CUDA, "ChannelBackpropStats", __FILE__);
}

}  // namespace caffe2rt
