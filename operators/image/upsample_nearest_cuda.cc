#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/upsample_nearest.h"

namespace caffe2rt {

void RegisterUpsampleNearestCuda() {
  RegisterOperator<UpsampleNearestOp<CUDAContext>>(CUDA, "UpsampleNearest", __FILE__);
  RegisterOperator<UpsampleNearestGradientOp<CUDAContext>>(CUDA, "UpsampleNearestGradient",
                                                           __FILE__);
}

}  // namespace caffe2rt
