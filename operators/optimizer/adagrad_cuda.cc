#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/adagrad.h"

namespace caffe2rt {

void RegisterAdagradCuda() {
  RegisterOperator<AdagradOp<CUDAContext>>(CUDA, "Adagrad", __FILE__);
  RegisterOperator<SparseAdagradOp<CUDAContext, false>>(CUDA, "SparseAdagrad", __FILE__);
  RegisterOperator<SparseAdagradOp<CUDAContext, true>>(CUDA, "RowWiseSparseAdagrad", __FILE__);
}

}  // namespace caffe2rt
