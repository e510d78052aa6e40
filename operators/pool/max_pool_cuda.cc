#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterMaxPoolEngine(const char* engine) {
  for (const std::string type : {"MaxPool", "MaxPool1D", "MaxPool2D", "MaxPool3D"}) {
    RegisterOperator<PoolOp<CUDAContext, PoolOnCuda<PoolKind::kMax, kEngine>>>(CUDA, type, __FILE__,
                                                                               engine);
    RegisterOperator<PoolGradientOp<CUDAContext, PoolGradientOnCuda<PoolKind::kMax, kEngine>>>(
        CUDA, type + "Gradient", __FILE__, engine);
  }
}

}  // namespace

void RegisterMaxPoolCuda() {
  RegisterMaxPoolEngine<CudaEngine::kOnRequest>("");
  RegisterMaxPoolEngine<CudaEngine::kOnRequest>("CUDNN");
  RegisterMaxPoolEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
