#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterBatchOneHotCuda() {
  // There is no CUDA kernel: the CPU operator runs.
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "BatchOneHot", __FILE__);
}

}  // namespace caffe2rt
