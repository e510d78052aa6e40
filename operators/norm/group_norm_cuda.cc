#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/group_norm.h"

namespace caffe2rt {

void RegisterGroupNormCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<GroupNormOp<CUDAContext>>(CUDA, "GroupNorm", __FILE__, engine);
    RegisterOperator<GroupNormGradientOp<CUDAContext>>(CUDA, "GroupNormGradient", __FILE__, engine);
  }
}

}  // namespace caffe2rt
