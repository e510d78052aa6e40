#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterEngine(const char* engine) {
  for (const char* type : {"AveragePool", "AveragePool1D", "AveragePool2D", "AveragePool3D"}) {
    RegisterOperator<PoolOp<CUDAContext, PoolOnCuda<PoolKind::kMean, kEngine>>>(CUDA, type,
                                                                                __FILE__, engine);
  }
}

}  // namespace

void RegisterAveragePoolCuda() {
  RegisterEngine<CudaEngine::kAny>("");
  RegisterEngine<CudaEngine::kAny>("CUDNN");
  RegisterEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
