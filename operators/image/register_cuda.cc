#include "operators/image/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/gpu_fallback.h"

namespace caffe2rt {

void RegisterImageCudaOperators() {
  RegisterChannelShuffleCuda();
  RegisterPadImageCuda();
  RegisterResizeNearestCuda();
  RegisterSpaceToBatchCuda();
  RegisterUpsampleBilinearCuda();
  // Without kernels: what the CPU has.
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "BRGNCHWCToPackedInt8BGRAStylizerDeprocess", __FILE__);
  RegisterOperator<GPUFallbackOpEx<>>(CUDA, "PackedInt8BGRANHWCToNCHWCStylizerPreprocess",
                                      __FILE__);
}

}  // namespace caffe2rt
