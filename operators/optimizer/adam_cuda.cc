#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/adam.h"

namespace caffe2rt {

void RegisterAdamCuda() {
  RegisterOperator<AdamOp<CUDAContext>>(CUDA, "Adam", __FILE__);
  RegisterOperator<SparseAdamOp<CUDAContext, false>>(CUDA, "SparseAdam", __FILE__);
  RegisterOperator<SparseAdamOp<CUDAContext, true>>(CUDA, "RowWiseSparseAdam", __FILE__);
}

}  // namespace caffe2rt
