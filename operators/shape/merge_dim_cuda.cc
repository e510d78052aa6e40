#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/merge_dim.h"

namespace caffe2rt {

void RegisterMergeDimCuda() {
  RegisterOperator<MergeDimOp<CUDAContext>>(CUDA, "MergeDim", __FILE__);
}

}  // namespace caffe2rt
