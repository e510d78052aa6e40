// CreateRebatchingQueue: creates a queue that joins rows to batches (rebatching_queue.h).
//   no inputs  ->  queue
// CloseRebatchingQueue: closes it. Operators that wait for it end.
//   queue  ->  nothing
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/queue/rebatching_queue_input.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kRebatchingCapacity{
    "capacity",
    1,
    "most rows that the queue holds, above 0",
    {[](int capacity) { return capacity > 0; }, "above 0"}};
constexpr ArgumentSpec<int> kRebatchingBlobs{
    "num_blobs",
    1,
    "number of tensors of a row, above 0",
    {[](int num_blobs) { return num_blobs > 0; }, "above 0"}};

class CreateRebatchingQueueOp final : public Operator<CPUContext> {
 public:
  CreateRebatchingQueueOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        options_{.capacity = static_cast<size_t>(ReadArgument(kRebatchingCapacity)),
                 .num_blobs = static_cast<size_t>(ReadArgument(kRebatchingBlobs))} {}

  bool RunOnDevice() override {
    *OperatorBase::Output<RebatchingQueueBlob>(0) = std::make_shared<RebatchingQueue>(options_);
    return true;
  }

 private:
  const RebatchingQueue::Options options_;
};

class CloseRebatchingQueueOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    RebatchingQueueInput(*this)->Close();
    return true;
  }
};

}  // namespace

void RegisterCreateRebatchingQueue() {
  DeclareSynchronizedType<RebatchingQueueBlob>();
  RegisterSchema("CreateRebatchingQueue", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kRebatchingCapacity, kRebatchingBlobs)
      .Output(0, "queue", "a queue of rows")
      .SetDoc(
          "Creates a bounded queue of rows of tensors. Batches of one size are written to it, and "
          "batches of another size are read from it.");
  RegisterCpuOperator<CreateRebatchingQueueOp>("CreateRebatchingQueue", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("CreateRebatchingQueue", __FILE__);

  RegisterSchema("CloseRebatchingQueue", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "queue", "a queue from CreateRebatchingQueue")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.queue_use = QueueUse::kCloses})
      .SetDoc(
          "Closes a queue. The rows in it can still be read, in a smaller batch at the end. "
          "Afterwards readers and writers fail.");
  RegisterCpuOperator<CloseRebatchingQueueOp>("CloseRebatchingQueue", __FILE__);
  RegisterGradient<NoGradient>("CloseRebatchingQueue", __FILE__);
}

}  // namespace caffe2rt
