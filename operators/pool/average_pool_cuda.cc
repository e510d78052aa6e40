#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterAveragePoolEngine(const char* engine) {
  for (const std::string type :
       {"AveragePool", "AveragePool1D", "AveragePool2D", "AveragePool3D"}) {
    RegisterOperator<PoolOp<CUDAContext, PoolOnCuda<PoolKind::kMean, kEngine>>>(CUDA, type,
                                                                                __FILE__, engine);
    RegisterOperator<PoolGradientOp<CUDAContext, PoolGradientOnCuda<PoolKind::kMean, kEngine>>>(
        CUDA, type + "Gradient", __FILE__, engine);
  }
}

}  // namespace

void RegisterAveragePoolCuda() {
  RegisterAveragePoolEngine<CudaEngine::kAny>("");
  RegisterAveragePoolEngine<CudaEngine::kAny>("CUDNN");
  RegisterAveragePoolEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
