#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/cuda_reduce.h"
#include "operators/reduce/sum_reduce_like.h"

namespace caffe2rt {

void RegisterSumReduceLikeCuda() {
  RegisterOperator<SumReduceLikeOp<CUDAContext>>(CUDA, "SumReduceLike", __FILE__);
}

}  // namespace caffe2rt
