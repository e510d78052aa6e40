#pragma once
// Linux primitives of the thread pool: sleeping on a 32-bit word (futex), the pause instruction of
// a spinning thread, and the processor time of another thread.

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace caffe2rt {

// Hints to the processor that the thread is spinning.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sleeps if `word` equals `value`, until FutexWake or a signal; the second overload sleeps at most
// `timeout`, which must be less than a second, and returns whether it has slept that long. May return
// spuriously: the caller must read the word again.
inline void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
inline bool FutexWait(std::atomic<uint32_t>& word, uint32_t value,
                      std::chrono::nanoseconds timeout) {
  const timespec relative = {0, timeout.count()};
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &relative, nullptr, 0) != 0 &&
         errno == ETIMEDOUT;
}
// Wakes up to `threads` threads that sleep on `word`.
inline void FutexWake(std::atomic<uint32_t>& word, int threads = 1) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// The processor time that the thread has used; 0 if it cannot be determined.
inline std::chrono::nanoseconds ProcessorTime(pthread_t thread) {
  clockid_t clock;
  timespec time = {};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace caffe2rt
