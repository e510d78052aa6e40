#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterLpNormCuda() {
  for (const char* type : {"LpNorm", "LpNormGradient"}) {
    RegisterOperator<GPUFallbackOpEx<>>(CUDA, type, __FILE__);
  }
}

}  // namespace caffe2rt
