#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/queue/dequeue_blobs.h"

namespace caffe2rt {

void RegisterDequeueBlobsCuda() {
  RegisterOperator<DequeueBlobsOp<CUDAContext>>(CUDA, "DequeueBlobs", __FILE__);
  RegisterOperator<SafeDequeueBlobsOp<CUDAContext>>(CUDA, "SafeDequeueBlobs", __FILE__);
}

}  // namespace caffe2rt
