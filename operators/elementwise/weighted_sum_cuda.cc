#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/weighted_sum.h"

namespace caffe2rt {

void RegisterWeightedSumCuda() {
  RegisterOperator<WeightedSumOp<CUDAContext>>(CUDA, "WeightedSum", __FILE__);
}

}  // namespace caffe2rt
