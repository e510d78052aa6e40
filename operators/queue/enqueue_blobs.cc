// EnqueueBlobs, SafeEnqueueBlobs
#include "operators/queue/enqueue_blobs.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

OpSchema& EnqueueSchema(const char* type) {
  return RegisterSchema(type, __FILE__)
      .EnforceInplace([](int in, int out) { return in == out + 1; })
      .Input(0, "queue", "a queue from CreateBlobsQueue")
      .Input(1, "blob_0, blob_1, ...", "the blobs of a record")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.waits = true, .queue_use = QueueUse::kPuts});
}

}  // namespace

void RegisterEnqueueBlobs() {
  EnqueueSchema("EnqueueBlobs")
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in - 1; })
      .Output(0, "blob_0, blob_1, ...", "the same blobs, which lose their content")
      .SetDoc(
          "Moves the content of blobs to a queue, or copies of tensors whose memory other blobs "
          "share. Waits while the queue is full. Fails if it is "
          "full and closed.");
  RegisterCpuOperator<EnqueueBlobsOp<CPUContext, false>>("EnqueueBlobs", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("EnqueueBlobs", __FILE__);

  EnqueueSchema("SafeEnqueueBlobs")
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in; })
      .Output(0, "blob_0, blob_1, ..., status",
              "the same blobs, which lose their content; bool scalar: whether the queue is full "
              "and closed, in which case the blobs are unchanged")
      .SetDoc(
          "Moves the content of blobs to a queue, or copies of tensors whose memory other blobs "
          "share. Waits while the queue is full and not closed. "
          "Returns whether it was full and closed.");
  RegisterCpuOperator<EnqueueBlobsOp<CPUContext, true>>("SafeEnqueueBlobs", __FILE__);
  RegisterGradient<NoGradient>("SafeEnqueueBlobs", __FILE__);
}

}  // namespace caffe2rt
