#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/channel_stats.h"

namespace caffe2rt {

void RegisterChannelStatsCuda() {
  RegisterOperator<ChannelStatsOp<CUDAContext>>(CUDA, "ChannelStats", __FILE__);
}

}  // namespace caffe2rt
