#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/roi_align.h"

namespace caffe2rt {

void RegisterRoiAlignCuda() {
  RegisterOperator<RoIAlignOp<CUDAContext>>(CUDA, "RoIAlign", __FILE__);
  RegisterOperator<RoIAlignGradientOp<CUDAContext>>(CUDA, "RoIAlignGradient", __FILE__);
}

}  // namespace caffe2rt
