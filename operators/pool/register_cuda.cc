#include "operators/pool/register_cuda.h"

#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

namespace {

template <PoolKind kKind, CudaEngine kEngine>
void RegisterEngine(const std::string& type, const char* engine) {
  for (const char* form : {"", "1D", "2D", "3D"}) {
    RegisterOperator<PoolOp<CUDAContext, PoolOnCuda<kKind, kEngine>>>(CUDA, type + form, __FILE__,
                                                                      engine);
  }
}

}  // namespace

void RegisterPoolCudaOperators() {
  RegisterEngine<PoolKind::kMean, CudaEngine::kAny>("AveragePool", "");
  RegisterEngine<PoolKind::kMean, CudaEngine::kAny>("AveragePool", "CUDNN");
  RegisterEngine<PoolKind::kMean, CudaEngine::kNative>("AveragePool", "NATIVE");
  RegisterEngine<PoolKind::kMax, CudaEngine::kOnRequest>("MaxPool", "");
  RegisterEngine<PoolKind::kMax, CudaEngine::kOnRequest>("MaxPool", "CUDNN");
  RegisterEngine<PoolKind::kMax, CudaEngine::kNative>("MaxPool", "NATIVE");
}

}  // namespace caffe2rt
