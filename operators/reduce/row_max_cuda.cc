#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/cuda_reduce.h"
#include "operators/reduce/row_max.h"

namespace caffe2rt {

void RegisterRowMaxCuda() {
  RegisterOperator<MatrixMaxOp<CUDAContext, true>>(CUDA, "RowwiseMax", __FILE__);
  RegisterOperator<MatrixMaxOp<CUDAContext, false>>(CUDA, "ColwiseMax", __FILE__);
  RegisterOperator<MatrixMaxGradientOp<CUDAContext, true>>(CUDA, "RowwiseMaxGradient", __FILE__);
  RegisterOperator<MatrixMaxGradientOp<CUDAContext, false>>(CUDA, "ColwiseMaxGradient", __FILE__);
  RegisterOperator<ReduceTailSumOp<CUDAContext>>(CUDA, "ReduceTailSum", __FILE__);
}

}  // namespace caffe2rt
