#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/sparse_to_dense.h"

namespace caffe2rt {

void RegisterSparseToDenseCuda() {
  for (const char* engine : {"", "ATOMIC"}) {
    RegisterOperator<SparseToDenseOp<CUDAContext>>(CUDA, "SparseToDense", __FILE__, engine);
  }
}

}  // namespace caffe2rt
