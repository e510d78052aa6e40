#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/concat.h"

namespace caffe2rt {

void RegisterConcatCuda() {
  RegisterOperator<ConcatOp<CUDAContext>>(CUDA, "Concat", __FILE__);
  RegisterOperator<ConcatOp<CUDAContext>>(CUDA, "DepthConcat", __FILE__);
}

}  // namespace caffe2rt
