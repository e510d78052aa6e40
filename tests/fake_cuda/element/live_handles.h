#pragma once

// The live handles of a library, those created and not yet destroyed. Thread safe.

#include <mutex>
#include <set>

namespace fakecuda {

template <class Handle>
class LiveHandles {
 public:
  void Add(Handle handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    handles_.insert(handle);
  }
  void Remove(Handle handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    handles_.erase(handle);
  }
  bool Contains(Handle handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    return handles_.contains(handle);
  }

 private:
  std::mutex mutex_;
  std::set<Handle> handles_;
};

}  // namespace fakecuda
