#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/msra_fill.h"

namespace caffe2rt {

void RegisterMsraFillCuda() {
  RegisterOperator<MSRAFillOp<CUDAContext>>(CUDA, "MSRAFill", __FILE__);
}

}  // namespace caffe2rt
