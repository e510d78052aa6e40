#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/ensure_dense.h"

namespace caffe2rt {

void RegisterEnsureDenseCuda() {
  RegisterOperator<EnsureDenseOp<CUDAContext>>(CUDA, "EnsureDense", __FILE__);
}

}  // namespace caffe2rt
