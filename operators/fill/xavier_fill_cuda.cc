#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/xavier_fill.h"

namespace caffe2rt {

void RegisterXavierFillCuda() {
  RegisterOperator<XavierFillOp<CUDAContext>>(CUDA, "XavierFill", __FILE__);
}

}  // namespace caffe2rt
