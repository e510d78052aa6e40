#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/ps_roi_pool.h"

namespace caffe2rt {

void RegisterPsRoiPoolCuda() {
  RegisterOperator<PSRoIPoolOp<CUDAContext>>(CUDA, "PSRoIPool", __FILE__);
  RegisterOperator<PSRoIPoolGradientOp<CUDAContext>>(CUDA, "PSRoIPoolGradient", __FILE__);
}

}  // namespace caffe2rt
