#pragma once
// The mutex in a blob, which CreateMutex makes and operators such as AtomicIter lock. Caffe2's
// sources, and users' operators, know it as a std::unique_ptr<std::mutex>.

#include <memory>
#include <mutex>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

using MutexBlob = std::unique_ptr<std::mutex>;

inline MutexBlob MakeMutex() { return std::make_unique<std::mutex>(); }

// Calls function() while it holds the mutex. THROWS if the blob holds none.
template <class Function>
void CallLocked(const MutexBlob& mutex, const Function& function) {
  CAFFE_ENFORCE(mutex != nullptr, "input 0 (mutex) holds no mutex");
  const std::lock_guard lock(*mutex);
  function();
}

}  // namespace caffe2rt
