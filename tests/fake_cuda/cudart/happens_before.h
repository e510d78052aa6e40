#pragma once

// Gives ThreadSanitizer exactly the happens-before order that CUDA guarantees.
//
// The fake's own locks would order the user's accesses more strictly than CUDA does, and so hide a
// missing wait. Therefore every call and every worker hides its own accesses and synchronization
// (Hidden), shows those of the user's code (Shown: kernels, copies, callbacks), and adds CUDA's
// edges explicitly:
//
//   enqueue                                    Release(op.start)
//   worker, before the operation               Acquire(op.start)
//   worker, after the operation                Release(op.finish)
//   a stream or host thread that waits for it  Acquire(op.finish)
//
// Without ThreadSanitizer all functions are empty.

#if defined(__SANITIZE_THREAD__)
#define FAKECUDA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAKECUDA_TSAN 1
#endif
#endif

#ifdef FAKECUDA_TSAN
extern "C" {
void AnnotateIgnoreSyncBegin(const char*, int);
void AnnotateIgnoreSyncEnd(const char*, int);
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
void __tsan_acquire(void*);
void __tsan_release(void*);
}
#endif

namespace fakecuda {

// Hides or shows the calling thread. No effect if it is in that state already.
void SetHidden(bool hidden);
bool IsHidden();

class Hidden {
 public:
  Hidden() : before_(IsHidden()) { SetHidden(true); }
  ~Hidden() { SetHidden(before_); }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  const bool before_;
};

class Shown {
 public:
  Shown() : before_(IsHidden()) { SetHidden(false); }
  ~Shown() { SetHidden(before_); }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

 private:
  const bool before_;
};

// One end of an edge. REQUIRES: the thread is hidden; the token outlives both ends.
void Acquire(void* token);
void Release(void* token);

}  // namespace fakecuda
