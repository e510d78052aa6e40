#pragma once
// Mutexes and locks whose use clang checks. A member names the mutex that guards it, and a function
// names the mutex that its caller must hold. With -Wthread-safety, clang reports each access that
// breaks the rule; other compilers ignore the annotations (absl/base/thread_annotations.h lists
// them). The mutexes are those of the standard library, at no extra cost.
//
//   class Journal {
//    public:
//     void Add(const std::string& line) {
//       const MutexLock lock(mutex_);
//       if (lines_.size() == kMaxLines) Drop();
//       lines_.push_back(line);
//     }
//
//    private:
//     void Drop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
//
//     Mutex mutex_;
//     std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
//   };
//
// condition_variable.h has a condition variable for Mutex.
//
// The analysis looks at one function at a time. It treats a lambda as a function that holds no
// lock, so pass values to a lambda that runs under a lock. It skips constructors and destructors.

#include <absl/base/thread_annotations.h>

#include <mutex>
#include <shared_mutex>

// For the constructor of MutexUnlock: ABSL_UNLOCK_FUNCTION does not state that the mutex was held
// exclusively, which clang must know to restore it.
#if defined(__clang__)
#define CAFFE2RT_EXCLUSIVE_UNLOCK_FUNCTION(mutex) __attribute__((release_capability(mutex)))
#else
#define CAFFE2RT_EXCLUSIVE_UNLOCK_FUNCTION(mutex)
#endif

#pragma GCC visibility push(default)
namespace caffe2rt {

// A mutex (std::mutex). Acquire it with MutexLock.
class ABSL_LOCKABLE Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// A mutex that its owner may acquire again (std::recursive_mutex). Acquire it with
// RecursiveMutexLock. Use it only where code that is not known, such as a module's, runs under the
// lock.
class ABSL_LOCKABLE RecursiveMutex {
 public:
  RecursiveMutex() = default;
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
};

// A mutex for one writer or any number of readers (std::shared_mutex). Acquire it with WriterLock
// or ReaderLock. A reader may not write the members that the mutex guards.
class ABSL_LOCKABLE SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  void LockShared() ABSL_SHARED_LOCK_FUNCTION() { mutex_.lock_shared(); }
  void UnlockShared() ABSL_UNLOCK_FUNCTION() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a mutex exclusively from its constructor to its destructor.
template <class AnyMutex>
class ABSL_SCOPED_LOCKABLE ExclusiveLock {
 public:
  explicit ExclusiveLock(AnyMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~ExclusiveLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;

 private:
  AnyMutex& mutex_;
};
using MutexLock = ExclusiveLock<Mutex>;
using RecursiveMutexLock = ExclusiveLock<RecursiveMutex>;
using WriterLock = ExclusiveLock<SharedMutex>;

// Holds a shared mutex as one of its readers.
class ABSL_SCOPED_LOCKABLE ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() ABSL_UNLOCK_FUNCTION() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Releases a mutex that the caller holds, and acquires it again in the destructor. For slow calls
// in a function that otherwise runs under the lock.
class ABSL_SCOPED_LOCKABLE MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) CAFFE2RT_EXCLUSIVE_UNLOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Unlock();
  }
  ~MutexUnlock() ABSL_UNLOCK_FUNCTION() { mutex_.Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
