// CreateBlobsQueueDB: makes a reader of a queue, for operators that read from a database.
//   queue  ->  reader: DBReader
// A record of the reader is a record of the queue: its key and its value are blobs of that record,
// each a std::string or a tensor of one string. The reader takes each record once, and ends with an
// error when the queue is closed and empty, or after timeout_secs.
#include <limits>
#include <utility>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/queue/create_blobs_queue.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kKeyBlobIndex{
    "key_blob_index", -1, "the blob of a record that is the key; below 0: all keys are empty"};
constexpr ArgumentSpec<int> kValueBlobIndex{"value_blob_index",
                                            0,
                                            "the blob of a record that is the value",
                                            {[](int index) { return index >= 0; }, "at least 0"}};
constexpr ArgumentSpec<float> kQueueReadTimeout{
    "timeout_secs", 0, "longest time to wait for a record, in seconds; 0 or less: no limit"};

struct QueueColumns {
  int key;  // below 0: none
  int value;
  float timeout_seconds;
};

// The only position of the cursor is that of the oldest record of the queue, which key() and value()
// wait for and take.
class BlobsQueueCursor final : public db::Cursor {
 public:
  BlobsQueueCursor(BlobsQueueBlob queue, const QueueColumns& columns)
      : queue_(std::move(queue)), columns_(columns), blobs_(queue_->num_blobs()) {
    for (Blob& blob : blobs_) record_.push_back(&blob);
  }
  void Seek(const std::string&) override { CAFFE_THROW("a queue does not support seeking"); }
  void SeekToFirst() override {}
  void Next() override { has_record_ = false; }
  bool Valid() override { return true; }
  std::string key() override {
    Take();
    return columns_.key < 0 ? std::string() : Text(columns_.key);
  }
  std::string value() override {
    Take();
    return Text(columns_.value);
  }

 private:
  void Take() {
    if (has_record_) return;
    CAFFE_ENFORCE(
        queue_->Read(record_, columns_.timeout_seconds),
        "the queue has no more records: it is closed and empty, or no record came within ",
        columns_.timeout_seconds, " seconds");
    has_record_ = true;
  }
  std::string Text(int column) const {
    const Blob& blob = blobs_[static_cast<size_t>(column)];
    if (blob.IsType<std::string>()) return blob.Get<std::string>();
    const bool is_text = blob.IsType<Tensor>() && blob.Get<Tensor>().GetDeviceType() == CPU &&
                         blob.Get<Tensor>().IsType<std::string>() &&
                         blob.Get<Tensor>().numel() == 1;
    CAFFE_ENFORCE(is_text, "blob ", column, " of a record of the queue holds an object of type ",
                  blob.TypeName(), ", want a std::string, or a tensor of one string");
    return *blob.Get<Tensor>().data<std::string>();
  }

  const BlobsQueueBlob queue_;  // shared with the blob of the queue
  const QueueColumns columns_;
  std::vector<Blob> blobs_;
  std::vector<Blob*> record_;
  bool has_record_ = false;
};

class BlobsQueueDB final : public db::DB {
 public:
  BlobsQueueDB(BlobsQueueBlob queue, const QueueColumns& columns)
      : DB("", db::READ), queue_(std::move(queue)), columns_(columns) {}
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override {
    return std::make_unique<BlobsQueueCursor>(queue_, columns_);
  }
  std::unique_ptr<db::Transaction> NewTransaction() override {
    CAFFE_THROW("a reader of a queue cannot write");
  }

 private:
  const BlobsQueueBlob queue_;  // shared with the blob of the queue
  const QueueColumns columns_;
};

class CreateBlobsQueueDBOp final : public Operator<CPUContext> {
 public:
  CreateBlobsQueueDBOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        columns_{.key = ReadArgument(kKeyBlobIndex),
                 .value = ReadArgument(kValueBlobIndex),
                 .timeout_seconds = ReadArgument(kQueueReadTimeout)} {}

  bool RunOnDevice() override {
    const BlobsQueueBlob queue = QueueInput(*this, 0);
    const auto blobs = static_cast<int64_t>(queue->num_blobs());
    CAFFE_ENFORCE(columns_.key < blobs && columns_.value < blobs, "arguments key_blob_index ",
                  columns_.key, " and value_blob_index ", columns_.value,
                  ", want less than the number of blobs of a record of the queue, ", blobs);
    OperatorBase::Output<db::DBReader>(0)->Open(std::make_unique<BlobsQueueDB>(queue, columns_));
    return true;
  }

 private:
  const QueueColumns columns_;
};

}  // namespace

void RegisterCreateBlobsQueueDb() {
  RegisterSchema("CreateBlobsQueueDB", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kKeyBlobIndex, kValueBlobIndex, kQueueReadTimeout)
      .Input(0, "queue", "a queue from CreateBlobsQueue")
      .Output(0, "reader", "DBReader that takes its records from the queue")
      .SynchronizedInputs({0})
      .SetDoc(
          "Makes a reader of a queue, for operators such as TensorProtosDBInput. It waits while "
          "the "
          "queue is empty; a queue that is closed and empty is an error. Such a reader has no "
          "position: it cannot be resumed, and nothing is read ahead.");
  RegisterCpuOperator<CreateBlobsQueueDBOp>("CreateBlobsQueueDB", __FILE__);
  // Readers hand on values without gradients.
  RegisterGradient<NoGradient>("CreateBlobsQueueDB", __FILE__);
}

}  // namespace caffe2rt
