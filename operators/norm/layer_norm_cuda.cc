#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/norm/layer_norm.h"

namespace caffe2rt {

void RegisterLayerNormCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<LayerNormOp<CUDAContext>>(CUDA, "LayerNorm", __FILE__, engine);
    RegisterOperator<LayerNormGradientOp<CUDAContext>>(CUDA, "LayerNormGradient", __FILE__, engine);
  }
}

}  // namespace caffe2rt
