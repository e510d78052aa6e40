#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/momentum_sgd.h"

namespace caffe2rt {

void RegisterMomentumSgdCuda() {
  RegisterOperator<MomentumSGDOp<CUDAContext>>(CUDA, "MomentumSGD", __FILE__);
  RegisterOperator<FloatMomentumSGDUpdateOp<CUDAContext>>(CUDA, "MomentumSGDUpdate", __FILE__);
  RegisterOperator<FP32MomentumSGDUpdateOp<CUDAContext>>(CUDA, "FP32MomentumSGDUpdate", __FILE__);
  RegisterOperator<FP16MomentumSGDUpdateOp<CUDAContext>>(CUDA, "FP16MomentumSGDUpdate", __FILE__);
  RegisterOperator<SparseMomentumSGDUpdateOp<CUDAContext>>(CUDA, "SparseMomentumSGDUpdate",
                                                           __FILE__);
}

}  // namespace caffe2rt
