// EnqueueRebatchingQueue: writes rows to a queue (rebatching_queue.h).
//   queue, tensors  ->  nothing
// Without enqueue_batch, the tensors are one row. With it, they are batches of rows: row i consists of
// their slices i in dimension 0. Fails if the queue is closed.
#include <climits>
#include <utility>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/queue/rebatching_queue_input.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kEnqueueBatch{
    "enqueue_batch", false, "1: the tensors are batches of rows; 0: they are one row"};

class EnqueueRebatchingQueueOp final : public Operator<CPUContext> {
 public:
  EnqueueRebatchingQueueOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), is_batch_(ReadArgument(kEnqueueBatch)) {}

  bool RunOnDevice() override {
    const RebatchingQueueBlob queue = RebatchingQueueInput(*this);
    CAFFE_ENFORCE_EQ(static_cast<size_t>(InputSize()) - 1, queue->num_blobs(),
                     "tensors to enqueue, want as many as a row of the queue has");
    return queue->Write(is_batch_ ? RowsOfBatch() : std::vector<RebatchingQueue::Row>(1, OneRow()));
  }

 private:
  RebatchingQueue::Row OneRow() {
    RebatchingQueue::Row row;
    for (int i = 1; i < InputSize(); ++i) row.push_back(Input(i).Clone());
    return row;
  }

  std::vector<RebatchingQueue::Row> RowsOfBatch() {
    std::vector<RebatchingQueue::Row> rows;
    for (int i = 1; i < InputSize(); ++i) {
      const Tensor& batch = Input(i);
      CAFFE_ENFORCE_GT(batch.dim(), 0, "dimensions of input ", i, ", a batch of rows");
      if (i == 1) rows.resize(static_cast<size_t>(batch.dim(0)));
      CAFFE_ENFORCE_EQ(batch.dim(0), static_cast<int64_t>(rows.size()), "rows of input ", i,
                       ", want as many as input 1 has");
      const std::vector<int64_t> dims(batch.dims().begin() + 1, batch.dims().end());
      const auto items = static_cast<size_t>(batch.size_from_dim(1));
      for (size_t r = 0; r < rows.size(); ++r) {
        Tensor& row = rows[r].emplace_back(CPU);
        row.Resize(dims);
        void* const to = row.raw_mutable_data(batch.dtype());
        if (items == 0) continue;
        context_.CopyItemsSameDevice(
            batch.dtype(), items,
            static_cast<const char*>(batch.raw_data()) + r * items * batch.itemsize(), to);
      }
    }
    return rows;
  }

  const bool is_batch_;
};

}  // namespace

void RegisterEnqueueRebatchingQueue() {
  RegisterSchema("EnqueueRebatchingQueue", __FILE__)
      .NumInputs(2, INT_MAX)
      .NumOutputs(0)
      .Arg(kEnqueueBatch)
      .Input(0, "queue", "a queue from CreateRebatchingQueue")
      .Input(1, "tensor_0, tensor_1, ...", "a row, or batches of rows")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.waits = true, .queue_use = QueueUse::kPuts})
      .SetDoc(
          "Writes copies of tensors to a queue, as one row or, with enqueue_batch, as the rows of "
          "batches. Waits while the queue is full. Fails if it is closed.");
  RegisterCpuOperator<EnqueueRebatchingQueueOp>("EnqueueRebatchingQueue", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("EnqueueRebatchingQueue", __FILE__);
}

}  // namespace caffe2rt
