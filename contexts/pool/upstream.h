#pragma once
// Where a pool gets its memory and how it asks about work on a device.
//
// One Upstream stands for one device (or for one kind of host memory, such as pinned).
// contexts/cuda gives one over the CUDA runtime; tests give one that has no memory at all. The
// pools never touch the memory, so its addresses need not be readable by the CPU.

#include <cstddef>
#include <cstdint>

namespace caffe2rt {

// Pools know streams by a small number, never by a handle of the driver: a destroyed handle may be
// given out again. An upstream may keep one number for memory that the host alone uses; `Record` on
// it does nothing and its events are done at once.
using StreamIndex = int32_t;
inline constexpr StreamIndex kNoStream = -1;

// Thread safe: pools call it from any thread. Everything but Allocate, Free and Synchronize must be
// quick, because a pool holds its lock meanwhile; those three are called without any lock.
class Upstream {
 public:
  using Event = void*;

  virtual ~Upstream() = default;

  // Memory aligned to 512 bytes or more; null when the device has not got it.
  // REQUIRES: nbytes > 0. THROWS when something else is wrong.
  virtual void* Allocate(size_t nbytes) = 0;
  // Gives back memory of Allocate. What still works on it is waited for or was waited for.
  virtual void Free(void* data, size_t nbytes) = 0;

  // An event that can be recorded over and over. THROWS when the device has none left.
  virtual Event CreateEvent() = 0;
  virtual void DestroyEvent(Event event) noexcept = 0;
  // Puts the event behind all the work that the stream was given so far. A pool outlives a failure
  // of these two (as while a graph is captured): it tries again later, or takes other memory.
  virtual void Record(Event event, StreamIndex stream) = 0;
  // Whether the work in front of the last Record is over. THROWS when that work failed.
  virtual bool IsDone(Event event) = 0;

  // Returns when all the work that the stream was given so far is over.
  virtual void Synchronize(StreamIndex stream) = 0;
};

}  // namespace caffe2rt
