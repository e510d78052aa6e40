#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/remove_padding.h"

namespace caffe2rt {

void RegisterRemovePaddingCuda() {
  RegisterOperator<RemovePaddingOp<CUDAContext>>(CUDA, "RemovePadding", __FILE__);
}

}  // namespace caffe2rt
