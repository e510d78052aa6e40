#pragma once
// FirstError: the first exception of the threads that work on one job.
//
//   FirstError error;
//   ... in each thread: try { Work(); } catch (...) { error.KeepCurrent(); }
//   ... when all have ended: if (auto first = error.Take()) std::rethrow_exception(first);

#include <atomic>
#include <exception>
#include <utility>

namespace caffe2rt {

class FirstError {
 public:
  // Keeps the exception that is being handled, unless there is one already. Thread safe.
  // REQUIRES: called in a catch block.
  void KeepCurrent() {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
  }
  // Returns the exception and clears it; null if there was none. REQUIRES: all threads have ended
  // their work, and the caller has synchronized with them.
  std::exception_ptr Take() {
    if (!failed_.load(std::memory_order_relaxed)) return nullptr;
    failed_.store(false, std::memory_order_relaxed);
    return std::exchange(error_, nullptr);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace caffe2rt
