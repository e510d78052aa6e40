// WeightedSampleDequeueBlobs: reads a record from one of several queues, which is chosen at random.
//   queues  ->  the blobs of the record; status: bool scalar, true if there was no record
// Queue i is chosen with probability weights[i] / sum of all weights. With table_idx_blob, the
// index of the queue, int32 [1], replaces that output.
#include <algorithm>
#include <climits>
#include <random>
#include <set>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/queue/enqueue_blobs.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<float> kQueueWeights{
    "weights", "one weight for each queue, at least 0, with a sum above 0; default: all the same"};
constexpr ArgumentSpec<int> kQueueIndexOutput{
    "table_idx_blob", -1, "output that is replaced by the index of the queue, below 0: none"};

class WeightedSampleDequeueBlobsOp final : public Operator<CPUContext> {
 public:
  WeightedSampleDequeueBlobsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), index_output_(ReadArgument(kQueueIndexOutput)) {
    CAFFE_ENFORCE_LT(index_output_, OutputSize() - 1, "argument \"", kQueueIndexOutput.name,
                     "\", want an output before the status");
    std::vector<float> weights = ReadArgument(kQueueWeights);
    if (weights.empty()) weights.assign(static_cast<size_t>(InputSize()), 1.0f);
    CAFFE_ENFORCE_EQ(weights.size(), static_cast<size_t>(InputSize()),
                     "weights, one for each input");
    for (const float weight : weights) {
      CAFFE_ENFORCE(weight >= 0, "argument \"", kQueueWeights.name, "\" contains ", weight,
                    ", want at least 0");
      sums_.push_back(weight + (sums_.empty() ? 0.0 : sums_.back()));
    }
    CAFFE_ENFORCE(sums_.back() > 0, "the sum of argument \"", kQueueWeights.name, "\" is ",
                  sums_.back(), ", want above 0");
  }

  bool RunOnDevice() override {
    const size_t chosen = Choose();
    const BlobsQueueBlob queue = QueueInput(*this, static_cast<int>(chosen));
    const size_t blobs = static_cast<size_t>(OutputSize()) - 1;
    CAFFE_ENFORCE_EQ(blobs, queue->num_blobs(),
                     "outputs before the status, want as many as a record of the queue has blobs");
    record_.assign(Outputs().begin(), Outputs().begin() + static_cast<std::ptrdiff_t>(blobs));
    const bool found = queue->Read(record_);
    if (index_output_ >= 0) *OutputData<int32_t>(index_output_, {1}) = static_cast<int32_t>(chosen);
    SetQueueStatus(*this, !found);
    return true;
  }

 private:
  size_t Choose() {
    const double r =
        std::uniform_real_distribution<double>(0, sums_.back())(context_.RandGenerator());
    // A queue of weight 0 is never chosen: the first sum above r belongs to a positive weight.
    const auto above = std::upper_bound(sums_.begin(), sums_.end(), r);
    if (above != sums_.end()) return static_cast<size_t>(above - sums_.begin());
    // r may be rounded up to the sum of all weights.
    return static_cast<size_t>(std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) -
                               sums_.begin());
  }

  const int index_output_;
  std::vector<double> sums_;  // of the weights up to and including each one
  std::vector<Blob*> record_;
};

// The inputs whose use the schema declares one by one. Operators with more of them are rare.
constexpr int kMaxDeclaredQueues = 64;

std::set<int> DeclaredQueues() {
  std::set<int> inputs;
  for (int i = 0; i < kMaxDeclaredQueues; ++i) inputs.insert(i);
  return inputs;
}

}  // namespace

void RegisterWeightedSampleDequeueBlobs() {
  RegisterSchema("WeightedSampleDequeueBlobs", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(2, INT_MAX)
      .Args(kQueueWeights, kQueueIndexOutput)
      .Input(0, "queue_0, queue_1, ...", "queues from CreateBlobsQueue")
      .Output(0, "blob_0, blob_1, ..., status",
              "the blobs of the record; bool scalar: whether the chosen queue is empty and closed")
      .SynchronizedInputs(DeclaredQueues())
      .ModifiesInputs(DeclaredQueues())
      .Traits({.waits = true, .queue_use = QueueUse::kTakes})
      .HasEffect(Effect::kRandom)
      .HasEffect(Effect::kEverything,
                 [](const OperatorDef& def) { return def.input_size() > kMaxDeclaredQueues; })
      .SetDoc("Moves the oldest record of a queue that is chosen at random to the outputs.");
  RegisterCpuOperator<WeightedSampleDequeueBlobsOp>("WeightedSampleDequeueBlobs", __FILE__);
  // Queues hand on values without gradients.
  RegisterGradient<NoGradient>("WeightedSampleDequeueBlobs", __FILE__);
}

}  // namespace caffe2rt
