// CreateBlobsQueue, CloseBlobsQueue
#include "operators/queue/create_blobs_queue.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterCreateBlobsQueue() {
  DeclareSynchronizedType<BlobsQueueBlob>();
  RegisterSchema("CreateBlobsQueue", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kQueueCapacity, kQueueNumBlobs, kQueueUniqueName, kQueueFieldNames)
      .Output(0, "queue", "a queue of records")
      .SetDoc("Creates a bounded queue that hands records of blobs from one thread to another.");
  RegisterCpuOperator<CreateBlobsQueueOp<CPUContext>>("CreateBlobsQueue", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("CreateBlobsQueue", __FILE__);

  RegisterSchema("CloseBlobsQueue", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "queue", "a queue from CreateBlobsQueue")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.queue_use = QueueUse::kCloses})
      .SetDoc(
          "Closes a queue. The records in it can still be read. Afterwards readers end, and so do "
          "writers as soon as the queue is full.");
  RegisterCpuOperator<CloseBlobsQueueOp<CPUContext>>("CloseBlobsQueue", __FILE__);
  RegisterGradient<NoGradient>("CloseBlobsQueue", __FILE__);
}

}  // namespace caffe2rt
