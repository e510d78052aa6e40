#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/norm/spatial_bn.h"

namespace caffe2rt {

void RegisterSpatialBnCuda() {
  for (const char* engine : {"NATIVE", ""}) {
    // With cuDNN, the default engine falls back to the native kernel by itself
    // (spatial_bn_cudnn.cc).
    if (*engine == 0 && CudnnIsInThisBuild()) continue;
    RegisterOperator<SpatialBNOp<CUDAContext>>(CUDA, "SpatialBN", __FILE__, engine);
    RegisterOperator<SpatialBNGradientOp<CUDAContext>>(CUDA, "SpatialBNGradient", __FILE__, engine);
  }
}

}  // namespace caffe2rt
