#pragma once
// DequeueBlobs: reads a record from a queue. Waits while the queue is empty. Fails if it is empty
// and closed, or after timeout_secs.
//   queue  ->  the blobs of the record
// SafeDequeueBlobs: the same, but instead of failing it returns a status. With num_records above 1
// it reads several records, and joins the tensors of each column in dimension 0. If the queue is
// closed, it returns the records that are left.
//   queue  ->  the blobs of the record; status: bool scalar, true if there was no record
// What the outputs held before moves to the queue (blobs_queue.h).

#include "operators/queue/enqueue_blobs.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kDequeueTimeout{
    "timeout_secs", 0, "longest time to wait for a record, in seconds; 0 or less: no limit"};
inline constexpr ArgumentSpec<int> kDequeueRecords{
    "num_records",
    1,
    "number of records to read and to join",
    {[](int records) { return records > 0; }, "above 0"}};

template <class Context>
class DequeueBlobsOp final : public Operator<Context> {
 public:
  DequeueBlobsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), timeout_(this->ReadArgument(kDequeueTimeout)) {}

  bool RunOnDevice() override {
    const BlobsQueueBlob queue = QueueInput(*this, 0);
    CAFFE_ENFORCE_EQ(static_cast<size_t>(this->OutputSize()), queue->num_blobs(),
                     "outputs, want as many as a record of the queue has blobs");
    FinishBeforeHandingOver(this->context_);
    return queue->Read(this->Outputs(), timeout_);
  }

 private:
  const float timeout_;
};

template <class Context>
class SafeDequeueBlobsOp final : public Operator<Context> {
 public:
  SafeDequeueBlobsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), records_(this->ReadArgument(kDequeueRecords)) {}

  bool RunOnDevice() override {
    const BlobsQueueBlob queue = QueueInput(*this, 0);
    const size_t columns = static_cast<size_t>(this->OutputSize()) - 1;
    CAFFE_ENFORCE_EQ(columns, queue->num_blobs(),
                     "outputs before the status, want as many as a record of the queue has blobs");
    FinishBeforeHandingOver(this->context_);
    const bool found = records_ > 1 ? ReadAndJoin(*queue) : ReadOne(*queue, columns);
    SetQueueStatus(*this, !found);
    return true;
  }

 private:
  // As in Caffe2, a tensor whose memory is too small grows by at least this much.
  static constexpr float kGrowthPercent = 40;

  bool ReadOne(BlobsQueue& queue, size_t columns) {
    record_.assign(this->Outputs().begin(),
                   this->Outputs().begin() + static_cast<std::ptrdiff_t>(columns));
    return queue.Read(record_);
  }

  // Returns whether there was a record.
  bool ReadAndJoin(BlobsQueue& queue) {
    if (columns_.size() != queue.num_blobs()) columns_ = std::vector<Blob>(queue.num_blobs());
    record_.clear();
    for (Blob& column : columns_) record_.push_back(&column);
    for (int found = 0; found < records_; ++found) {
      if (!queue.Read(record_)) return found > 0;
      for (size_t i = 0; i < columns_.size(); ++i) {
        const Tensor& tensor = columns_[i].template Get<Tensor>();
        CAFFE_ENFORCE(tensor.GetDeviceType() == Context::GetDeviceType(), "blob ", i,
                      " of a record is a tensor on ", DeviceTypeName(tensor.GetDeviceType()),
                      ", want one on ", DeviceTypeName(Context::GetDeviceType()));
        Tensor* const joined = this->Output(static_cast<int>(i));
        if (found == 0) {
          joined->CopyFrom(tensor, &this->context_);
        } else {
          Append(tensor, i, joined);
        }
      }
      FinishBeforeHandingOver(this->context_);  // the next Read gives the tensors away
    }
    return true;
  }

  void Append(const Tensor& tensor, size_t column, Tensor* joined) {
    CAFFE_ENFORCE(tensor.dim() > 0 && joined->dim() > 0, "blob ", column, " of a record has shape ",
                  tensor.sizes(), ", and that of the records before has shape ", joined->sizes(),
                  ", want at least one dimension to join them");
    CAFFE_ENFORCE(tensor.dtype() == joined->dtype(), "blob ", column, " of a record is ",
                  tensor.dtype().name(), ", want ", joined->dtype().name(),
                  ", the type in the records before");
    CAFFE_ENFORCE_EQ(tensor.size_from_dim(1), joined->size_from_dim(1),
                     "elements in a row of blob ", column,
                     " of a record, want as many as in the records before");
    if (tensor.numel() == 0 || !tensor.dtype().IsSet()) return;
    const size_t before = joined->nbytes();
    joined->Extend(tensor.dim(0), kGrowthPercent, &this->context_);
    this->context_.CopyItemsSameDevice(tensor.dtype(), static_cast<size_t>(tensor.numel()),
                                       tensor.raw_data(),
                                       static_cast<char*>(joined->raw_mutable_data()) + before);
  }

  const int records_;
  std::vector<Blob*> record_;
  std::vector<Blob> columns_;  // one record, if several are joined
};

}  // namespace caffe2rt
