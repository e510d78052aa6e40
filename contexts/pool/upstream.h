#pragma once
// The interface through which a pool allocates memory and queries the work of a device.
//
// One Upstream represents one device, or one kind of host memory such as pinned memory.
// contexts/cuda implements it over the CUDA runtime; tests implement it without any memory. Pools
// never access the memory, so the CPU need not be able to read it.

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Pools identify streams by small numbers, not by driver handles, because the driver may reuse the
// value of a destroyed handle. An upstream may reserve one number for memory that only the host
// uses: `Record` on it does nothing, and its events are done at once.
using StreamIndex = int32_t;
inline constexpr StreamIndex kNoStream = -1;

// Must be thread safe: pools call it from any thread. Pools call Allocate, Free and Synchronize
// without a lock. They hold their lock during all other functions, which must therefore be fast.
class Upstream {
 public:
  using Event = void*;

  virtual ~Upstream() = default;

  // Returns memory aligned to at least 512 bytes, or null if the device is out of memory.
  // REQUIRES: nbytes > 0. THROWS on any other failure.
  virtual void* Allocate(size_t nbytes) = 0;
  // Releases memory of Allocate. Work on the upstream's device may still use it: the upstream waits
  // for that work or frees in stream order. The pool has already waited for the other streams that
  // use it.
  virtual void Free(void* data, size_t nbytes) = 0;

  // Returns an event that can be recorded repeatedly. THROWS if the device has none left.
  virtual Event CreateEvent() = 0;
  virtual void DestroyEvent(Event event) noexcept = 0;
  // Enqueues the event behind all work enqueued on the stream so far. If CreateEvent or Record
  // fails, for example while a graph is captured, the pool tries again later or uses other memory.
  virtual void Record(Event event, StreamIndex stream) = 0;
  // Returns whether the work before the last Record has finished. THROWS if that work failed.
  virtual bool IsDone(Event event) = 0;

  // Waits until all work enqueued on the stream so far has finished.
  virtual void Synchronize(StreamIndex stream) = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
