#pragma once

// Happens-before as CUDA promises it, for ThreadSanitizer.
//
// The fake's own locks would order the user's accesses in ways that CUDA does not, and so hide a
// missing wait. Therefore every call and every worker hides what it does itself (Hidden), shows
// what the user's code does (Shown: kernels, copies, callbacks), and adds the edges of CUDA by
// hand:
//   enqueue: Release(op.start)        worker before the op: Acquire(op.start)
//   worker after the op: Release(op.finish)
//   whoever waits for the op, a stream or the host: Acquire(op.finish)
// Without ThreadSanitizer all of it is empty.

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

// Hides or shows the calling thread; a no-op when it is so already.
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
