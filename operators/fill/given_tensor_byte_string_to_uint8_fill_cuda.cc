#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterGivenTensorByteStringToUint8FillCuda() {
  // There is no CUDA implementation; the CPU operator runs.
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "GivenTensorByteStringToUInt8Fill", __FILE__);
}

}  // namespace caffe2rt
