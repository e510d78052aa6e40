#pragma once
// CreateBlobsQueue: creates a queue (blobs_queue.h).
//   no inputs  ->  queue
// CloseBlobsQueue: closes a queue. Operators that wait for it end.
//   queue  ->  nothing

#include <string>

#include "caffe2_core/runtime/operator.h"
#include "operators/queue/blobs_queue.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kQueueCapacity{
    "capacity",
    1,
    "most records that the queue holds, at least 0",
    {[](int capacity) { return capacity >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int> kQueueNumBlobs{
    "num_blobs",
    1,
    "number of blobs of a record, at least 0",
    {[](int num_blobs) { return num_blobs >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<bool> kQueueUniqueName{
    "enforce_unique_name", false,
    "fail if the output already holds a queue, instead of replacing it"};
inline constexpr RepeatedArgumentSpec<std::string> kQueueFieldNames{
    "field_names", "names of the blobs of a record, for statistics"};

// The queue in input `i` of an operator. THROWS if it holds none.
inline const BlobsQueueBlob& QueueInput(const OperatorBase& op, int i) {
  const auto& queue = op.Input<BlobsQueueBlob>(i);
  CAFFE_ENFORCE(queue != nullptr, "input ", i, " (queue) holds no queue");
  return queue;
}

template <class Context>
class CreateBlobsQueueOp final : public Operator<Context> {
 public:
  CreateBlobsQueueOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        options_{.capacity = static_cast<size_t>(this->ReadArgument(kQueueCapacity)),
                 .num_blobs = static_cast<size_t>(this->ReadArgument(kQueueNumBlobs)),
                 .name = def.output_size() > 0 ? def.output(0) : "",
                 .field_names = this->ReadArgument(kQueueFieldNames)},
        unique_(this->ReadArgument(kQueueUniqueName)) {
    const size_t names = options_.field_names.size();
    CAFFE_ENFORCE(names == 0 || names == options_.num_blobs, "argument \"", kQueueFieldNames.name,
                  "\" has ", names, " names, want ", options_.num_blobs,
                  ", the value of argument \"", kQueueNumBlobs.name, "\"");
  }

  bool RunOnDevice() override {
    CAFFE_ENFORCE(!unique_ || !this->template OutputIsType<BlobsQueueBlob>(0),
                  "output 0 (queue) already holds a queue, and argument \"", kQueueUniqueName.name,
                  "\" is set");
    *OperatorBase::Output<BlobsQueueBlob>(0) = std::make_shared<BlobsQueue>(options_);
    return true;
  }

 private:
  const BlobsQueue::Options options_;
  const bool unique_;
};

template <class Context>
class CloseBlobsQueueOp final : public Operator<Context> {
 public:
  using Operator<Context>::Operator;
  bool RunOnDevice() override {
    QueueInput(*this, 0)->Close();
    return true;
  }
};

}  // namespace caffe2rt
