#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/upsample_bilinear.h"

namespace caffe2rt {

void RegisterUpsampleBilinearCuda() {
  RegisterOperator<UpsampleBilinearOp<CUDAContext>>(CUDA, "UpsampleBilinear", __FILE__);
  RegisterOperator<UpsampleBilinearGradientOp<CUDAContext>>(CUDA, "UpsampleBilinearGradient",
                                                            __FILE__);
}

}  // namespace caffe2rt
