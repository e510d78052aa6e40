#include "caffe2_core/base/stack_limit.h"

#include <pthread.h>

#include <cstdint>

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

Bounds FindBounds() {
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
