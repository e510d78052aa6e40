#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/nchw2nhwc.h"

namespace caffe2rt {

void RegisterNchw2nhwcCuda() {
  RegisterOperator<OrderSwitchOp<CUDAContext, true>>(CUDA, "NCHW2NHWC", __FILE__);
  RegisterOperator<OrderSwitchOp<CUDAContext, false>>(CUDA, "NHWC2NCHW", __FILE__);
}

}  // namespace caffe2rt
