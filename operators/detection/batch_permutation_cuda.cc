#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detection/batch_permutation.h"

namespace caffe2rt {

void RegisterBatchPermutationCuda() {
  RegisterOperator<BatchPermutationOp<CUDAContext, false>>(CUDA, "BatchPermutation", __FILE__);
  RegisterOperator<BatchPermutationOp<CUDAContext, true>>(CUDA, "BatchPermutationGradient",
                                                          __FILE__);
}

}  // namespace caffe2rt
