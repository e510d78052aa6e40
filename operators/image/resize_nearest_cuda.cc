#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/resize_nearest.h"

namespace caffe2rt {

void RegisterResizeNearestCuda() {
  RegisterOperator<ResizeNearestOp<CUDAContext>>(CUDA, "ResizeNearest", __FILE__);
  RegisterOperator<ResizeNearestGradientOp<CUDAContext>>(CUDA, "ResizeNearestGradient", __FILE__);
}

}  // namespace caffe2rt
