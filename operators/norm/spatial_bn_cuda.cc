#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/norm/spatial_bn.h"

namespace caffe2rt {

void RegisterSpatialBnCuda() {
  RegisterOperator<SpatialBNOp<CUDAContext>>(CUDA, "SpatialBN", __FILE__, "NATIVE");
  // Else it is the default where cuDNN does not take the arguments (spatial_bn_cudnn.cc).
  if (!CudnnIsInThisBuild())
    RegisterOperator<SpatialBNOp<CUDAContext>>(CUDA, "SpatialBN", __FILE__);
}

}  // namespace caffe2rt
