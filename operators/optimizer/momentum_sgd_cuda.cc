#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/momentum_sgd.h"

namespace caffe2rt {

void RegisterMomentumSgdCuda() {
  RegisterOperator<MomentumSGDOp<CUDAContext>>(CUDA, "MomentumSGD", __FILE__);
  RegisterOperator<MomentumSGDUpdateOp<CUDAContext, false, true>>(CUDA, "MomentumSGDUpdate",
                                                                  __FILE__);
  RegisterOperator<MomentumSGDUpdateOp<CUDAContext, true, false>>(CUDA, "FP32MomentumSGDUpdate",
                                                                  __FILE__);
  RegisterOperator<SparseMomentumSGDUpdateOp<CUDAContext>>(CUDA, "SparseMomentumSGDUpdate",
                                                           __FILE__);
}

}  // namespace caffe2rt
