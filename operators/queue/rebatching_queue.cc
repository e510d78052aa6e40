#include "operators/queue/rebatching_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

bool RebatchingQueue::Write(std::vector<Row> rows) {
  size_t written = 0;
  while (true) {
    uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      if (TryWrite(&rows, &written)) break;
      seen = changes_;
    }
    changed_.NotifyAll();
    AwaitChange(seen);
  }
  changed_.NotifyAll();
  return written == rows.size();
}

bool RebatchingQueue::TryWrite(std::vector<Row>* rows, size_t* written) {
  if (closed_) return true;
  while (*written < rows->size() && rows_.size() < options_.capacity) {
    rows_.push_back(std::move((*rows)[(*written)++]));
    ++changes_;
  }
  return *written == rows->size();
}

bool RebatchingQueue::Read(size_t count, std::vector<Row>* rows) {
  std::vector<Row> read;
  while (true) {
    uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      if (TryRead(count, &read)) break;
      seen = changes_;
    }
    changed_.NotifyAll();
    try {
      AwaitChange(seen);
    } catch (const RunStopped&) {
      PutBack(&read);
      throw;
    }
  }
  changed_.NotifyAll();
  std::move(read.begin(), read.end(), std::back_inserter(*rows));
  return !read.empty();
}

bool RebatchingQueue::TryRead(size_t count, std::vector<Row>* rows) {
  while (rows->size() < count && !rows_.empty()) {
    rows->push_back(std::move(rows_.front()));
    rows_.pop_front();
    ++changes_;
  }
  return rows->size() == count || closed_;
}

void RebatchingQueue::PutBack(std::vector<Row>* rows) {
  {
    const MutexLock lock(mutex_);
    while (!rows->empty()) {
      rows_.push_front(std::move(rows->back()));
      rows->pop_back();
    }
    ++changes_;
  }
  changed_.NotifyAll();
}

void RebatchingQueue::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    ++changes_;
  }
  changed_.NotifyAll();
}

void RebatchingQueue::AwaitChange(uint64_t seen) {
  ThrowIfStopped();
  // No lock is held here, because taking turns again may wait for a reporter that uses the queue.
  const WaitingThread waiting;
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  const MutexLock lock(mutex_);
  while (changes_ == seen && changed_.WaitUntil(mutex_, deadline)) {
  }
}

}  // namespace caffe2rt
