#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/roi_align_rotated.h"

namespace caffe2rt {

void RegisterRoiAlignRotatedCuda() {
  RegisterOperator<RoIAlignRotatedOp<CUDAContext, false>>(CUDA, "RoIAlignRotated", __FILE__);
  RegisterOperator<RoIAlignRotatedOp<CUDAContext, true>>(CUDA, "RoIAlignRotatedGradient", __FILE__);
}

}  // namespace caffe2rt
