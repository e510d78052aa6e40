#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/diagonal_fill.h"

namespace caffe2rt {

void RegisterDiagonalFillCuda() {
  RegisterOperator<DiagonalFillOp<CUDAContext>>(CUDA, "DiagonalFill", __FILE__);
}

}  // namespace caffe2rt
