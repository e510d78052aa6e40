#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/group_spatial_softmax.h"

namespace caffe2rt {

void RegisterGroupSpatialSoftmaxCuda() {
  RegisterOperator<GroupSpatialSoftmaxOp<CUDAContext>>(CUDA, "GroupSpatialSoftmax", __FILE__);
  RegisterOperator<GroupSpatialSoftmaxGradientOp<CUDAContext>>(CUDA, "GroupSpatialSoftmaxGradient",
                                                               __FILE__);
}

}  // namespace caffe2rt
