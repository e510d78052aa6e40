#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/max_pool_with_index.h"

namespace caffe2rt {

void RegisterMaxPoolWithIndexCuda() {
  RegisterOperator<MaxPoolWithIndexOp<CUDAContext, false>>(CUDA, "MaxPoolWithIndex", __FILE__);
  RegisterOperator<MaxPoolWithIndexOp<CUDAContext, true>>(CUDA, "MaxPoolWithIndexGradient",
                                                          __FILE__);
}

}  // namespace caffe2rt
