#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterSparseNormalizeCuda() {
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "SparseNormalize", __FILE__);
}

}  // namespace caffe2rt
