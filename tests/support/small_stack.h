#pragma once
// Runs code in a thread with a small stack, which an overflow would end with SIGSEGV.

#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <functional>

#include "caffe2_core/base/stack_limit.h"

namespace caffe2rt::test {

// The thread-local variables of the libraries, which lie in a thread's stack, in whole pages.
inline size_t ThreadLocalBytes() {
  constexpr size_t kPage = 4096;
  size_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* sum) {
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          if (part.p_type == PT_TLS) *static_cast<size_t*>(sum) += part.p_memsz + part.p_align;
        }
        return 0;
      },
      &bytes);
  return (bytes + kPage - 1) / kPage * kPage;
}

// Beside ThreadLocalBytes(), the stack has StackFactor() times `bytes`, which is a multiple of 4,096. `run` must not throw.
inline void RunWithStack(size_t bytes, const std::function<void()>& run) {
  // Memory of its own: the C library would give it a larger stack of an earlier thread.
  constexpr size_t kGuardBytes = size_t{64} << 10;
  const size_t stack_bytes = bytes * StackFactor() + ThreadLocalBytes();
  const size_t all_bytes = kGuardBytes + stack_bytes;
  void* const memory =
      mmap(nullptr, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  void* const stack = static_cast<char*>(memory) + kGuardBytes;
  ASSERT_EQ(mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE), 0);
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack, stack_bytes), 0);
  const auto start = [](void* function) -> void* {
    (*static_cast<const std::function<void()>*>(function))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&run)),
            0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  munmap(memory, all_bytes);
}

}  // namespace caffe2rt::test
