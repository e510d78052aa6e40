#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/pad_image.h"

namespace caffe2rt {

void RegisterPadImageCuda() {
  RegisterOperator<PadImageOp<CUDAContext>>(CUDA, "PadImage", __FILE__);
  RegisterOperator<PadImageGradientOp<CUDAContext>>(CUDA, "PadImageGradient", __FILE__);
}

}  // namespace caffe2rt
