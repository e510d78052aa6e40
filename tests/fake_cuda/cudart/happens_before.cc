#include "cudart/happens_before.h"

namespace fakecuda {

#ifdef FAKECUDA_TSAN

namespace {
thread_local bool t_hidden = false;
}  // namespace

bool IsHidden() { return t_hidden; }

void SetHidden(bool hidden) {
  if (hidden == t_hidden) return;
  t_hidden = hidden;
  if (hidden) {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  } else {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
}

// While a thread is hidden, ThreadSanitizer ignores acquire and release too, so both end that state
// for the one call.
void Acquire(void* token) {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __tsan_acquire(token);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

void Release(void* token) {
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  __tsan_release(token);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

#else

bool IsHidden() { return false; }
void SetHidden(bool) {}
void Acquire(void*) {}
void Release(void*) {}

#endif

}  // namespace fakecuda
