#include "caffe2_core/base/stack_limit.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

#ifdef CAFFE2RT_SANITIZED
constexpr size_t kFactor = 6;  // variables of the frames lie apart, and code is not optimized
#else
constexpr size_t kFactor = 1;
#endif
constexpr size_t kReserveBytes = size_t{24} << 10;

struct Bounds {
  uintptr_t begin = 0, end = 0;
};

// The stack of the thread that the process began with, or nothing. The name of the program lies at
// its top, and it grows down to its limit. pthread_getattr_np finds the same in /proc/self/maps, which
// takes a third of a millisecond.
Bounds FindFirstBounds() {
  const auto name = static_cast<uintptr_t>(getauxval(AT_EXECFN));
  rlimit limit;
  if (getpid() != gettid() || name == 0 || getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t last = name + std::strlen(reinterpret_cast<const char*>(name));
  const uintptr_t end = (last / page + 1) * page;
  return limit.rlim_cur < end ? Bounds{end - limit.rlim_cur, end} : Bounds{};
}

Bounds FindBounds() {
  if (const Bounds first = FindFirstBounds(); first.end != 0) return first;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* address = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &address, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return known ? Bounds{begin, begin + size} : Bounds{};
}

}  // namespace

size_t StackBytesLeft() {
  thread_local const Bounds bounds = FindBounds();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > bounds.begin && here <= bounds.end ? here - bounds.begin : SIZE_MAX;
}

size_t StackFactor() { return kFactor; }

size_t StackLevels(size_t bytes_per_level) {
  const size_t left = StackBytesLeft() / kFactor;
  return left > kReserveBytes ? (left - kReserveBytes) / bytes_per_level : 0;
}

std::string StackRemedy() {
  return MakeString(": the thread has ", ByteSizeText(StackBytesLeft()),
                    " of stack left; use a thread with a larger stack (ulimit -s)");
}

}  // namespace caffe2rt
