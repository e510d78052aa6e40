#pragma once
// Waiting on a 32-bit word in the kernel, and what belongs to it: the pause of a spinning thread
// and the processor time of another thread. Used by the thread pool.

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace caffe2rt {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sleeps while `word` is `value`, until a wake or a signal, and in the second form for `timeout` at
// most (less than a second). Callers look at the word again.
inline void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
inline void FutexWait(std::atomic<uint32_t>& word, uint32_t value,
                      std::chrono::nanoseconds timeout) {
  const timespec relative = {0, timeout.count()};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &relative, nullptr, 0);
}
// Wakes one thread that sleeps on `word`.
inline void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Processor time that the thread has had; 0 where that cannot be known.
inline std::chrono::nanoseconds ProcessorTime(pthread_t thread) {
  clockid_t clock;
  timespec time = {};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace caffe2rt
