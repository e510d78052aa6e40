#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/gather_padding.h"

namespace caffe2rt {

void RegisterGatherPaddingCuda() {
  RegisterOperator<GatherPaddingOp<CUDAContext>>(CUDA, "GatherPadding", __FILE__);
}

}  // namespace caffe2rt
