// The waits of calls that allocate or free memory. On hardware each of them may wait for all work of
// the device, so a program that holds a stream and makes such a call may wait forever.

#include <chrono>
#include <cstdio>

#include "cudart/world.h"

namespace fakecuda {
namespace {

constexpr long kHeldWaitMs = 10000;

bool IsHeld(const Stream& stream) {
  return stream.in_host_function || (stream.paused && !stream.queue.empty());
}

// Any stream that is held, or null. It need not be the one that the caller waits for: that one may
// wait for the held stream.
const Stream* FindHeld() {
  for (const auto& device : TheWorld().devices) {
    for (const auto* streams : {&device->streams, &device->closed}) {
      for (const StreamP& stream : *streams) {
        if (IsHeld(*stream)) return stream.get();
      }
    }
    if (device->legacy && IsHeld(*device->legacy)) return device->legacy.get();
  }
  return nullptr;
}

void Report(const char* call, const Stream& held) {
  const void* found = nullptr;
  for (const auto& [handle, stream] : TheWorld().streams.live()) {
    if (stream.get() == &held) found = handle;
  }
  fprintf(stderr, "[fakecuda] %s waits for the device, but %s holds stream %p of device %d\n", call,
          held.in_host_function ? "a host function" : "fakecuda_pause", found, held.device);
}

// Waits for the operations. If that takes long and a stream is held, prints it and returns false.
bool Await(const char* call, const std::vector<OpP>& ops, std::unique_lock<std::mutex>& lock) {
  const std::chrono::milliseconds limit(ValueOf("held_wait_ms", kHeldWaitMs));
  for (const OpP& op : ops) {
    while (!op->changed->wait_for(lock, limit, [&op] { return op->done; })) {
      const Stream* const held = FindHeld();
      if (held == nullptr) continue;
      Report(call, *held);
      return false;
    }
  }
  return true;
}

}  // namespace

cudaError_t Call::WaitToFree(const std::vector<OpP>& ops) {
  Count("memory_wait");
  return Await(name_, ops, lock_) ? cudaSuccess : Return(cudaErrorNotPermitted);
}

// Adds no order for ThreadSanitizer, because a program must not rely on this wait.
cudaError_t Call::WaitToAllocate(int device) {
  Count("memory_wait");
  if (ValueOf("allocation_waits", 0) == 0) return cudaSuccess;
  if (!Await(name_, device < 0 ? AllLastOps() : LastOps(device), lock_)) {
    return Return(cudaErrorNotPermitted);
  }
  const size_t failed = static_cast<size_t>(device < 0 ? Me().device : device);
  return Return(TheWorld().devices[failed]->sticky);
}

}  // namespace fakecuda
