#pragma once
// EnqueueBlobs: writes a record to a queue. Waits while the queue is full. Fails if it is full and
// closed.
//   queue, blobs  ->  the same blobs, in place
// SafeEnqueueBlobs: the same, but instead of failing it returns a status.
//   queue, blobs  ->  the same blobs, in place; status: bool scalar, true if the queue was full and
//                     closed
// The content of the blobs moves to the queue (blobs_queue.h).

#include "caffe2_core/runtime/operator.h"
#include "operators/math/unary.h"
#include "operators/queue/create_blobs_queue.h"

namespace caffe2rt {

// Another thread may use the content of the blobs at once, on another stream.
template <class Context>
void FinishBeforeHandingOver(Context& context) {
  if constexpr (Context::GetDeviceType() != CPU) context.FinishDeviceComputation();
}

// Sets the last output to whether the queue is closed.
template <class Context>
void SetQueueStatus(Operator<Context>& op, bool is_closed) {
  Tensor* const status = op.Output(op.OutputSize() - 1, {}, TypeMeta::Make<bool>());
  math::Set<bool, Context>(1, is_closed, status->template mutable_data<bool>(), op.getContext());
}

template <class Context, bool kSafe>
class EnqueueBlobsOp final : public Operator<Context> {
 public:
  using Operator<Context>::Operator;

  bool RunOnDevice() override {
    const BlobsQueueBlob queue = QueueInput(*this, 0);
    const size_t blobs = static_cast<size_t>(this->OutputSize()) - (kSafe ? 1 : 0);
    CAFFE_ENFORCE_EQ(blobs, queue->num_blobs(), "blobs to enqueue, want as many as a record has");
    record_.assign(this->Outputs().begin(),
                   this->Outputs().begin() + static_cast<std::ptrdiff_t>(blobs));
    FinishBeforeHandingOver(this->context_);
    const bool written = queue->Write(record_);
    if constexpr (kSafe) {
      SetQueueStatus(*this, !written);
      return true;
    } else {
      return written;
    }
  }

 private:
  std::vector<Blob*> record_;
};

}  // namespace caffe2rt
