#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/queue/create_blobs_queue.h"

namespace caffe2rt {

void RegisterCreateBlobsQueueCuda() {
  RegisterOperator<CreateBlobsQueueOp<CUDAContext>>(CUDA, "CreateBlobsQueue", __FILE__);
  RegisterOperator<CloseBlobsQueueOp<CUDAContext>>(CUDA, "CloseBlobsQueue", __FILE__);
}

}  // namespace caffe2rt
