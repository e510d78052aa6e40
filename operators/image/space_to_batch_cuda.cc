#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/image/space_to_batch.h"

namespace caffe2rt {

void RegisterSpaceToBatchCuda() {
  RegisterOperator<SpaceBatchOp<CUDAContext, true>>(CUDA, "SpaceToBatch", __FILE__);
  RegisterOperator<SpaceBatchOp<CUDAContext, false>>(CUDA, "BatchToSpace", __FILE__);
}

}  // namespace caffe2rt
