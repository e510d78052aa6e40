#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/transpose.h"

namespace caffe2rt {

void RegisterTransposeCuda() {
  RegisterOperator<TransposeOp<CUDAContext>>(CUDA, "Transpose", __FILE__);
}

}  // namespace caffe2rt
