#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/roi_pool.h"

namespace caffe2rt {

void RegisterRoiPoolCuda() {
  RegisterOperator<RoIPoolOp<CUDAContext, true>>(CUDA, "RoIPool", __FILE__);
  RegisterOperator<RoIPoolGradientOp<CUDAContext, true>>(CUDA, "RoIPoolGradient", __FILE__);
  RegisterOperator<RoIPoolOp<CUDAContext, false>>(CUDA, "RoIPoolF", __FILE__);
  RegisterOperator<RoIPoolGradientOp<CUDAContext, false>>(CUDA, "RoIPoolFGradient", __FILE__);
}

}  // namespace caffe2rt
