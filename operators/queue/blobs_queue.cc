#include "operators/queue/blobs_queue.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

// Timeouts are rounded down to this one, so that deadlines do not overflow.
constexpr double kLongestTimeoutSeconds = 1e9;

// Whether others may use the memory of the tensor in the blob.
bool SharesMemory(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  return tensor != nullptr && (tensor->shares_data() || tensor->storage().use_count() > 1);
}

// REQUIRES: SharesMemory(from).
void CopyBlob(const Blob& from, Blob* to) {
  if (from.IsType<Tensor>()) {
    to->Reset(new Tensor(from.Get<Tensor>().Clone()));
    return;
  }
  const auto& quantized = from.Get<Int8TensorCPU>();
  to->Reset(new Int8TensorCPU{
      .scale = quantized.scale, .zero_point = quantized.zero_point, .t = quantized.t.Clone()});
}

// A queue that holds itself would never be destroyed.
bool MayEnter(const Blob& blob) { return !IsBlobHolder(blob) && !blob.IsType<BlobsQueueBlob>(); }

void CheckMayEnter(const Blob& blob, size_t i) {
  CAFFE_ENFORCE(MayEnter(blob), "blob ", i, " of a record holds an object of type ",
                blob.TypeName(),
                ", want one that can leave its workspace: neither a scope nor a queue can enter a "
                "queue");
}

int64_t BytesOf(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  return tensor == nullptr ? 0 : static_cast<int64_t>(tensor->nbytes());
}

}  // namespace

BlobsQueue::Statistics::Statistics(const Options& options)
    : balance(StatRegistry::get().add(options.name + "/queue_balance")),
      records(StatRegistry::get().add(options.name + "/queue_dequeued_records")),
      bytes(StatRegistry::get().add(options.name + "/queue_dequeued_bytes")),
      read_time(options.name + "/read_time_ns"),
      write_time(options.name + "/write_time_ns") {
  for (const std::string& field : options.field_names) {
    field_bytes.push_back(StatRegistry::get().add(options.name + "/queue_dequeued_bytes/" + field));
  }
}

void BlobsQueue::Statistics::CountRecord(const std::vector<Blob*>& record) const {
  records->increment(1);
  for (size_t i = 0; i < record.size(); ++i) {
    const int64_t size = BytesOf(*record[i]);
    bytes->increment(size);
    if (i < field_bytes.size()) field_bytes[i]->increment(size);
  }
}

BlobsQueue::BlobsQueue(const Options& options)
    : options_(options),
      statistics_(options.name.empty() ? std::nullopt
                                       : std::optional<Statistics>(std::in_place, options)) {}

bool BlobsQueue::Read(const std::vector<Blob*>& record, float timeout_seconds) {
  Deadline deadline = Deadline::max();
  if (timeout_seconds > 0) {
    const std::chrono::duration<double> timeout(
        std::min<double>(timeout_seconds, kLongestTimeoutSeconds));
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  }
  return WaitCounted(true, record, deadline);
}

bool BlobsQueue::Write(const std::vector<Blob*>& record) {
  return WaitCounted(false, record, Deadline::max());
}

bool BlobsQueue::WaitCounted(bool read, const std::vector<Blob*>& record, Deadline deadline) {
  if (!statistics_) return Wait(read, record, deadline);
  const Clock::time_point begin = Clock::now();
  statistics_->balance->increment(read ? -1 : 1);
  if (!Wait(read, record, deadline)) return false;
  const int64_t time = std::chrono::nanoseconds(Clock::now() - begin).count();
  (read ? statistics_->read_time : statistics_->write_time).Add(time);
  if (read) statistics_->CountRecord(record);
  return true;
}

void BlobsQueue::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    ++changes_;
  }
  changed_.NotifyAll();
}

bool BlobsQueue::Wait(bool read, const std::vector<Blob*>& record, Deadline deadline) {
  CAFFE_ENFORCE_EQ(record.size(), num_blobs(), "blobs of a record of the queue");
  while (true) {
    uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      if (TrySwap(read, record)) break;
      if (closed_) return false;
      seen = changes_;
    }
    if (Clock::now() >= deadline) return false;
    ThrowIfStopped();
    // No lock is held here, because taking turns again may wait for a reporter that uses the queue.
    const WaitingThread waiting;
    AwaitChange(seen, std::min(deadline, Clock::now() + kLongestWait));
  }
  changed_.NotifyAll();
  return true;
}

bool BlobsQueue::TrySwap(bool read, const std::vector<Blob*>& record) {
  const uint64_t held = written_ - read_;
  if (read ? held == 0 : held >= options_.capacity) return false;
  uint64_t& number = read ? read_ : written_;
  const size_t place = static_cast<size_t>(number % options_.capacity);
  if (place == ring_.size()) ring_.emplace_back(num_blobs());
  if (read) {
    SwapOut(record, &ring_[place]);
  } else {
    SwapIn(record, &ring_[place]);
  }
  ++number;
  ++changes_;
  return true;
}

// Copies memory that others share. That takes the lock for longer, but it is rare, and the content
// of the blobs may change while no lock is held.
void BlobsQueue::SwapIn(const std::vector<Blob*>& record, std::vector<Blob>* place) {
  std::vector<Blob> copies;  // of the blobs, or empty; none is made unless one is needed
  for (size_t i = 0; i < record.size(); ++i) {
    CheckMayEnter(*record[i], i);
    if (!SharesMemory(*record[i])) continue;
    if (copies.empty()) copies.resize(record.size());
    CopyBlob(*record[i], &copies[i]);
  }
  for (size_t i = 0; i < record.size(); ++i) {
    if (!copies.empty() && !copies[i].IsEmpty()) record[i]->swap(copies[i]);
    record[i]->swap((*place)[i]);
  }
}

void BlobsQueue::SwapOut(const std::vector<Blob*>& record, std::vector<Blob>* place) {
  for (size_t i = 0; i < record.size(); ++i) {
    Blob& old = (*place)[i];
    record[i]->swap(old);
    if (SharesMemory(old) || !MayEnter(old)) old.Reset();
  }
}

void BlobsQueue::AwaitChange(uint64_t seen, Deadline deadline) {
  const MutexLock lock(mutex_);
  while (changes_ == seen && changed_.WaitUntil(mutex_, deadline)) {
  }
}

}  // namespace caffe2rt
