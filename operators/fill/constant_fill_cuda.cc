#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/constant_fill.h"

namespace caffe2rt {

void RegisterConstantFillCuda() {
  RegisterOperator<ConstantFillOp<CUDAContext>>(CUDA, "ConstantFill", __FILE__);
}

}  // namespace caffe2rt
