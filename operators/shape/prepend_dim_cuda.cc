#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/prepend_dim.h"

namespace caffe2rt {

void RegisterPrependDimCuda() {
  RegisterOperator<PrependDimOp<CUDAContext>>(CUDA, "PrependDim", __FILE__);
}

}  // namespace caffe2rt
