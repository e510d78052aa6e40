#pragma once
// BlobsQueue: a bounded queue of records. A record consists of a fixed number of blobs.
//
//   BlobsQueue queue({.capacity = 8, .num_blobs = 2});
//   queue.Write({&image, &label});    // waits while the queue is full
//   queue.Close();
//   while (queue.Read({&image, &label})) { ... }   // waits while the queue is empty and not closed
//
// Write and Read swap the content of the caller's blobs with that of the queue's. After a Write, the
// caller's blobs hold what was in the queue's place before, which is nothing, or memory that an
// earlier reader gave back.
//
// What is in a queue is nobody else's. A tensor takes its memory with it; if others share the memory
// (another tensor, a view, the owner of external memory), the queue gets a copy. Objects that hold
// blobs (caffe2_core/tensor/blob_holders.h) and queues cannot enter a queue. What a reader's blobs
// held before is destroyed if it cannot enter the queue, or if others share its memory.
//
// A closed queue never waits: Read returns the remaining records and then false; Write returns
// false if the queue is full. Memory is allocated for the records that the queue has held at the
// same time, not for its capacity. Thread safe.
//
// A queue with a name counts under Caffe2's names (caffe2_core/runtime/stat_registry.h):
//   NAME/queue_balance            writes minus reads, including those that wait or failed
//   NAME/queue_dequeued_records   records that were read
//   NAME/queue_dequeued_bytes     bytes of their tensors; with field names also .../FIELD
//   NAME/read_time_ns/sum, /count, NAME/write_time_ns/sum, /count   time of successful calls

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "caffe2_core/tensor/blob.h"

namespace caffe2rt {

class [[gnu::visibility("default")]] BlobsQueue {
 public:
  struct Options {
    size_t capacity = 1;                        // records
    size_t num_blobs = 1;                       // blobs of a record
    std::string name = {};                      // under which it counts; empty: it does not
    std::vector<std::string> field_names = {};  // of the blobs, in statistics; may be empty
  };

  explicit BlobsQueue(const Options& options);
  BlobsQueue(const BlobsQueue&) = delete;
  BlobsQueue& operator=(const BlobsQueue&) = delete;

  size_t num_blobs() const { return options_.num_blobs; }

  // Return whether a record was read or written. Read gives up after `timeout_seconds`, unless that
  // is 0 or less. THROW RunStopped (caffe2_core/runtime/waiting.h). Write THROWS if a blob holds what
  // cannot enter a queue. REQUIRES: `record` has num_blobs() blobs.
  bool Read(const std::vector<Blob*>& record, float timeout_seconds = 0);
  bool Write(const std::vector<Blob*>& record);
  void Close();

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  struct Statistics {
    explicit Statistics(const Options& options);
    void CountRecord(const std::vector<Blob*>& record) const;

    StatValue* const balance;
    StatValue* const records;
    StatValue* const bytes;
    std::vector<StatValue*> field_bytes;
    const AverageStat read_time;
    const AverageStat write_time;
  };

  bool WaitCounted(bool read, const std::vector<Blob*>& record, Deadline deadline);
  bool Wait(bool read, const std::vector<Blob*>& record, Deadline deadline);
  // Swaps the record with the next one to read, or with the next place to write. Returns false if
  // there is none.
  bool TrySwap(bool read, const std::vector<Blob*>& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void SwapIn(const std::vector<Blob*>& record, std::vector<Blob>* place);
  static void SwapOut(const std::vector<Blob*>& record, std::vector<Blob>* place);
  void AwaitChange(uint64_t seen, Deadline deadline);

  const Options options_;
  const std::optional<Statistics> statistics_;
  Mutex mutex_;
  ConditionVariable changed_;
  uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t written_ ABSL_GUARDED_BY(mutex_) = 0;  // number of records so far
  uint64_t read_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // A ring of at most `capacity` records. Record number i has the place i % capacity. It grows
  // until it has all places.
  std::vector<std::vector<Blob>> ring_ ABSL_GUARDED_BY(mutex_);
};

// The content of a blob. Shared, because operators keep the queue while they wait.
using BlobsQueueBlob = std::shared_ptr<BlobsQueue>;

}  // namespace caffe2rt
