#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/resize_like.h"

namespace caffe2rt {

void RegisterResizeLikeCuda() {
  RegisterOperator<ResizeLikeOp<CUDAContext>>(CUDA, "ResizeLike", __FILE__);
}

}  // namespace caffe2rt
