// DequeueRebatchingQueue: reads a batch of rows from a queue (rebatching_queue.h).
//   queue  ->  tensors: [num_elements, shape of a row's tensor]
// If the queue is closed, it reads what is left, and fails if nothing is left.
#include <climits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/queue/rebatching_queue_input.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kNumElements{"num_elements",
                                         1,
                                         "number of rows to read, above 0",
                                         {[](int rows) { return rows > 0; }, "above 0"}};

class DequeueRebatchingQueueOp final : public Operator<CPUContext> {
 public:
  DequeueRebatchingQueueOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), num_elements_(ReadArgument(kNumElements)) {}

  bool RunOnDevice() override {
    const RebatchingQueueBlob queue = RebatchingQueueInput(*this);
    CAFFE_ENFORCE_EQ(static_cast<size_t>(OutputSize()), queue->num_blobs(),
                     "outputs, want as many as a row of the queue has tensors");
    // The outputs exist even if the queue is closed, as in Caffe2.
    for (int i = 0; i < OutputSize(); ++i) (void)Output(i);
    std::vector<RebatchingQueue::Row> rows;
    if (!queue->Read(static_cast<size_t>(num_elements_), &rows)) return false;
    for (int i = 0; i < OutputSize(); ++i) Join(rows, i);
    return true;
  }

 private:
  void Join(const std::vector<RebatchingQueue::Row>& rows, int column) {
    const Tensor& first = rows[0][static_cast<size_t>(column)];
    std::vector<int64_t> dims = first.dims();
    dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
    char* to = static_cast<char*>(Output(column, dims, first.dtype())->raw_mutable_data());
    for (const RebatchingQueue::Row& row : rows) {
      const Tensor& tensor = row[static_cast<size_t>(column)];
      CAFFE_ENFORCE(tensor.dims() == first.dims() && tensor.dtype() == first.dtype(), "tensor ",
                    column, " of a row is ", tensor.dtype().name(), " ", tensor.sizes(), ", want ",
                    first.dtype().name(), " ", first.sizes(), ", as in the row before");
      if (tensor.numel() == 0) continue;
      context_.CopyItemsSameDevice(tensor.dtype(), static_cast<size_t>(tensor.numel()),
                                   tensor.raw_data(), to);
      to += tensor.nbytes();
    }
  }

  const int num_elements_;
};

}  // namespace

void RegisterDequeueRebatchingQueue() {
  RegisterSchema("DequeueRebatchingQueue", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .Arg(kNumElements)
      .Input(0, "queue", "a queue from CreateRebatchingQueue")
      .Output(0, "tensor_0, tensor_1, ...",
              "[num_elements, ...]: the tensors of the rows, stacked in a new first dimension")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .Traits({.waits = true, .queue_use = QueueUse::kTakes})
      .SetDoc(
          "Reads num_elements rows from a queue and stacks them. Waits until the queue has had so "
          "many. From a closed queue it reads what is left, and fails if nothing is left.");
  RegisterCpuOperator<DequeueRebatchingQueueOp>("DequeueRebatchingQueue", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("DequeueRebatchingQueue", __FILE__);
}

}  // namespace caffe2rt
