// DequeueBlobs, SafeDequeueBlobs
#include "operators/queue/dequeue_blobs.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

OpSchema& DequeueSchema(const char* type) {
  return RegisterSchema(type, __FILE__)
      .Input(0, "queue", "a queue from CreateBlobsQueue")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.waits = true, .queue_use = QueueUse::kTakes});
}

}  // namespace

void RegisterDequeueBlobs() {
  DequeueSchema("DequeueBlobs")
      .NumInputsOutputs([](int in, int out) { return in == 1 && out >= 1; })
      .Arg(kDequeueTimeout)
      .Output(0, "blob_0, blob_1, ...", "the blobs of the record")
      .SetDoc(
          "Moves the oldest record of a queue to the outputs. Waits while the queue is empty. "
          "Fails if it is empty and closed, or after timeout_secs.");
  RegisterCpuOperator<DequeueBlobsOp<CPUContext>>("DequeueBlobs", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("DequeueBlobs", __FILE__);

  DequeueSchema("SafeDequeueBlobs")
      .NumInputsOutputs([](int in, int out) { return in == 1 && out >= 2; })
      .Arg(kDequeueRecords)
      .Output(0, "blob_0, blob_1, ..., status",
              "the blobs of the record; bool scalar: whether the queue is empty and closed, in "
              "which case the blobs are unchanged")
      .SetDoc(
          "Moves the oldest record of a queue to the outputs. Waits while the queue is empty and "
          "not closed. With num_records above 1, the blobs must be tensors, and those of several "
          "records are joined in dimension 0.");
  RegisterCpuOperator<SafeDequeueBlobsOp<CPUContext>>("SafeDequeueBlobs", __FILE__);
  RegisterGradient<NoGradient>("SafeDequeueBlobs", __FILE__);
}

}  // namespace caffe2rt
