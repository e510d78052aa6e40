#pragma once
// ReadAhead: produces items on threads of its own, a bounded number ahead of their use, and hands
// them out in order.
//
//   ReadAhead<Tensor> images(files.size(), 4, 8, [&](size_t i) { return Load(files[i]); });
//   for (size_t i = 0; i < files.size(); ++i) {
//     Tensor image = images.Next();        // the next ones are being loaded
//   }

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt {

// Next may be called by one thread at a time.
template <class T>
class ReadAhead {
 public:
  // `read` is called once for each of 0 to count - 1, on `threads` threads at the same time. At most
  // `most` items exist that have been read, or are being read, and have not been taken. REQUIRES:
  // threads >= 1 and most >= 1.
  ReadAhead(size_t count, int threads, size_t most, std::function<T(size_t)> read)
      : count_(count), most_(most), read_(std::move(read)) {
    CAFFE_ENFORCE(threads >= 1 && most >= 1, "threads ", threads, " and items ", most,
                  " of a ReadAhead, want at least 1");
    const size_t useful = std::min({static_cast<size_t>(threads), count, most});
    for (size_t i = 0; i < useful; ++i) {
      try {
        threads_.emplace_back([this] { Work(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        return;  // the system allows no more threads
      }
    }
  }
  // Stops after the items that are being read, and drops those that have not been taken.
  ~ReadAhead() {
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
    }
    may_read_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Returns the next item, or THROWS what `read` threw for it; the call after that returns the item
  // behind it. REQUIRES: fewer than `count` calls before.
  T Next() {
    Item item;
    {
      const MutexLock lock(mutex_);
      CAFFE_ENFORCE_LT(taken_, count_, "items taken from a ReadAhead");
      while (!items_.contains(taken_)) is_read_.Wait(mutex_);
      item = std::move(items_.at(taken_));
      items_.erase(taken_++);
    }
    may_read_.NotifyOne();
    if (item.error != nullptr) std::rethrow_exception(item.error);
    return std::move(*item.value);
  }

 private:
  struct Item {
    std::optional<T> value;
    std::exception_ptr error;
  };

  // Returns the index of the item to read, or nullopt if there is none left.
  std::optional<size_t> Begin() {
    const MutexLock lock(mutex_);
    while (!stopped_ && begun_ < count_ && begun_ - taken_ >= most_) may_read_.Wait(mutex_);
    if (stopped_ || begun_ >= count_) return std::nullopt;
    return begun_++;
  }

  void Work() {
    while (const std::optional<size_t> index = Begin()) {
      Item item;
      try {
        item.value.emplace(read_(*index));
      } catch (...) {
        item.error = std::current_exception();
      }
      {
        const MutexLock lock(mutex_);
        items_.emplace(*index, std::move(item));
      }
      is_read_.NotifyOne();
    }
    may_read_.NotifyAll();  // the other threads end too
  }

  const size_t count_, most_;
  const std::function<T(size_t)> read_;
  Mutex mutex_;
  ConditionVariable may_read_, is_read_;
  size_t begun_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<size_t, Item> items_ ABSL_GUARDED_BY(mutex_);  // read, but not taken
  std::vector<std::thread> threads_;
};

}  // namespace caffe2rt
