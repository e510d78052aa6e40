#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/queue/enqueue_blobs.h"

namespace caffe2rt {

void RegisterEnqueueBlobsCuda() {
  RegisterOperator<EnqueueBlobsOp<CUDAContext, false>>(CUDA, "EnqueueBlobs", __FILE__);
  RegisterOperator<EnqueueBlobsOp<CUDAContext, true>>(CUDA, "SafeEnqueueBlobs", __FILE__);
}

}  // namespace caffe2rt
