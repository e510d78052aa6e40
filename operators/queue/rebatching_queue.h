#pragma once
// RebatchingQueue: a bounded queue of rows. A row consists of a tensor for each column; readers join
// rows to batches of another size than the writers' batches.
//
//   RebatchingQueue queue({.capacity = 100, .num_blobs = 2});
//   queue.Write(std::move(rows));       // waits while the queue is full
//   queue.Close();
//   queue.Read(32, &rows);              // fewer rows only if the queue is closed
//
// A closed queue never waits: Read returns what is left, and Write returns false. Thread safe.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class [[gnu::visibility("default")]] RebatchingQueue {
 public:
  using Row = std::vector<Tensor>;  // one tensor for each column
  struct Options {
    size_t capacity = 1;   // rows
    size_t num_blobs = 1;  // columns
  };

  explicit RebatchingQueue(const Options& options) : options_(options) {}
  RebatchingQueue(const RebatchingQueue&) = delete;
  RebatchingQueue& operator=(const RebatchingQueue&) = delete;

  size_t num_blobs() const { return options_.num_blobs; }

  // Writes the rows in order, perhaps in several parts if there is less room. Returns false, and
  // drops the rest, if the queue is closed. THROWS RunStopped (caffe2_core/runtime/waiting.h).
  bool Write(std::vector<Row> rows);
  // Reads `count` rows, or those that are left in a closed queue, and appends them to `rows`. Takes
  // rows as they come, so that `count` may exceed the capacity; readers that wait at the same time
  // share the rows. Returns false if there are none. THROWS RunStopped, and puts the rows back then.
  bool Read(size_t count, std::vector<Row> * rows);
  void Close();

 private:
  // Return whether there is nothing to wait for.
  bool TryWrite(std::vector<Row> * rows, size_t * written) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TryRead(size_t count, std::vector<Row> * rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(std::vector<Row> * rows);
  // Waits until something has changed since `seen`, but not for long. THROWS RunStopped.
  void AwaitChange(uint64_t seen);

  const Options options_;
  Mutex mutex_;
  ConditionVariable changed_;
  uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Row> rows_ ABSL_GUARDED_BY(mutex_);
};

// The content of a blob. Shared, because operators keep the queue while they wait.
using RebatchingQueueBlob = std::shared_ptr<RebatchingQueue>;

}  // namespace caffe2rt
