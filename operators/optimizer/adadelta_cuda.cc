#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/adadelta.h"

namespace caffe2rt {

void RegisterAdadeltaCuda() {
  RegisterOperator<AdadeltaOp<CUDAContext, false>>(CUDA, "Adadelta", __FILE__);
  RegisterOperator<AdadeltaOp<CUDAContext, true>>(CUDA, "SparseAdadelta", __FILE__);
}

}  // namespace caffe2rt
