// What clang reports about code that uses caffe2_core/base/mutex.h wrongly. The test mutex_analysis
// compiles this file with the library's flags. It passes if clang reports exactly the errors in the
// comments (clang's option -verify).
#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt::test {

class Guarded {
 public:
  int ReadUnderLock() {
    const MutexLock lock(mutex_);
    return value_;
  }
  int ReadWithoutLock() {
    // expected-error@+1 {{reading variable 'value_' requires holding mutex 'mutex_'}}
    return value_;
  }
  void WriteWithoutLock() {
    // expected-error@+1 {{writing variable 'value_' requires holding mutex 'mutex_' exclusively}}
    value_ = 1;
  }
  void WriteAfterScope() {
    {
      const MutexLock lock(mutex_);
      value_ = 1;
    }
    // expected-error@+1 {{writing variable 'value_' requires holding mutex 'mutex_' exclusively}}
    value_ = 2;
  }
  int ReadUnderLockOfOther(Guarded& other) {
    const MutexLock lock(other.mutex_);
    // expected-error@+2 {{reading variable 'value_' requires holding mutex 'mutex_'}}
    // expected-note@+1 {{found near match 'other.mutex_'}}
    return value_;
  }
  int ReadPointeeWithoutLock() {
    // expected-error@+1 {{reading the value pointed to by 'pointer_' requires holding mutex}}
    return pointer_ == nullptr ? 0 : *pointer_;
  }

  void AddLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { ++value_; }
  void CallUnderLock() {
    const MutexLock lock(mutex_);
    AddLocked();
  }
  void CallWithoutLock() {
    // expected-error@+1 {{calling function 'AddLocked' requires holding mutex 'mutex_' exclusively}}
    AddLocked();
  }
  void Add() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    AddLocked();
  }
  void CallThatLocksUnderLock() {
    const MutexLock lock(mutex_);
    Add();  // expected-error {{cannot call function 'Add' while mutex 'mutex_' is held}}
  }

  void LockTwice() {
    const MutexLock lock(mutex_);  // expected-note {{mutex acquired here}}
    // expected-error@+1 {{acquiring mutex 'mutex_' that is already held}}
    const MutexLock again(mutex_);
  }
  void LockForever() {
    mutex_.Lock();  // expected-note {{mutex acquired here}}
    // expected-error@+1 {{mutex 'mutex_' is still held at the end of function}}
  }

  void UnlockInScope() {
    const MutexLock lock(mutex_);
    {
      const MutexUnlock unlocked(mutex_);
      // expected-error@+1 {{writing variable 'value_' requires holding mutex 'mutex_' exclusively}}
      value_ = 1;
    }
    value_ = 2;
  }
  void UnlockInScopeOfCaller() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    { const MutexUnlock unlocked(mutex_); }
    value_ = 1;
  }
  void UnlockWithoutLock() {
    // expected-error@+1 {{releasing mutex 'mutex_' that was not held}}
    const MutexUnlock unlocked(mutex_);
  }

  void WaitUnderLock() {
    const MutexLock lock(mutex_);
    while (value_ == 0) changed_.Wait(mutex_);
    while (value_ == 1 && changed_.WaitUntil(mutex_, {})) {
    }
  }
  void WaitWithoutLock() {
    // expected-error@+1 {{calling function 'Wait' requires holding mutex 'mutex_' exclusively}}
    changed_.Wait(mutex_);
    // expected-error@+1 {{calling function 'WaitUntil' requires holding mutex 'mutex_' exclusively}}
    changed_.WaitUntil(mutex_, {});
  }
  void ReadInLambda() {
    const MutexLock lock(mutex_);
    // expected-error@+1 {{reading variable 'value_' requires holding mutex 'mutex_'}}
    (void)[this] { return value_; };
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int value_ ABSL_GUARDED_BY(mutex_) = 0;
  int* pointer_ ABSL_PT_GUARDED_BY(mutex_) = nullptr;
};

class Shared {
 public:
  int ReadAsReader() {
    const ReaderLock lock(mutex_);
    return value_;
  }
  void WriteAsReader() {
    const ReaderLock lock(mutex_);
    // expected-error@+1 {{writing variable 'value_' requires holding mutex 'mutex_' exclusively}}
    value_ = 1;
  }
  void WriteAsWriter() {
    const WriterLock lock(mutex_);
    value_ = ReadLocked();
  }
  int ReadLocked() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return value_; }
  int CallWithoutLock() {
    // expected-error@+1 {{calling function 'ReadLocked' requires holding mutex 'mutex_'}}
    return ReadLocked();
  }

 private:
  SharedMutex mutex_;
  int value_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct Table {
  RecursiveMutex mutex;
  int rows ABSL_GUARDED_BY(mutex) = 0;
};
Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}
int RowsUnderLock() {
  const RecursiveMutexLock lock(TheTable().mutex);
  return TheTable().rows;
}
int RowsWithoutLock() {
  // expected-error@+1 {{reading variable 'rows' requires holding mutex 'TheTable().mutex'}}
  return TheTable().rows;
}

}  // namespace caffe2rt::test
