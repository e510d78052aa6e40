#include "operators/queue/blobs_queue.h"

#include <algorithm>

#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

// Timeouts are rounded down to this one, so that deadlines do not overflow.
constexpr double kLongestTimeoutSeconds = 1e9;

}  // namespace

bool BlobsQueue::Read(const std::vector<Blob*>& record, float timeout_seconds) {
  Deadline deadline = Deadline::max();
  if (timeout_seconds > 0) {
    const std::chrono::duration<double> timeout(
        std::min<double>(timeout_seconds, kLongestTimeoutSeconds));
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  }
  return Wait(true, record, deadline);
}

bool BlobsQueue::Write(const std::vector<Blob*>& record) {
  return Wait(false, record, Deadline::max());
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
  for (size_t i = 0; i < record.size(); ++i) record[i]->swap(ring_[place][i]);
  ++number;
  ++changes_;
  return true;
}

void BlobsQueue::AwaitChange(uint64_t seen, Deadline deadline) {
  const MutexLock lock(mutex_);
  while (changes_ == seen && changed_.WaitUntil(mutex_, deadline)) {
  }
}

}  // namespace caffe2rt
