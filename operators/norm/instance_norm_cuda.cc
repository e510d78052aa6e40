#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/instance_norm.h"

namespace caffe2rt {

void RegisterInstanceNormCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<InstanceNormOp<CUDAContext>>(CUDA, "InstanceNorm", __FILE__, engine);
    RegisterOperator<InstanceNormGradientOp<CUDAContext>>(CUDA, "InstanceNormGradient", __FILE__,
                                                          engine);
  }
}

}  // namespace caffe2rt
