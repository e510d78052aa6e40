#pragma once
// An upstream for pools that needs no device: it returns addresses without memory, and its streams
// advance on request.
//
//   FakeAllocator device({.limit_bytes = 1 << 20});
//   device.Give(0);    // enqueues one unit of work on stream 0
//   ...                // events recorded now are not done
//   device.Finish(0);  // completes the work of stream 0
//
// A stream consists of two numbers: the units of work given to it and those finished. Freed
// addresses are reused immediately, lowest first, to expose use after free. Reading or writing the
// returned "memory" would crash.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "contexts/pool/upstream.h"

namespace caffe2rt::test {

struct FakeAllocatorOptions {
  size_t limit_bytes = SIZE_MAX;
};

// Thread safe. Set the hooks before several threads use the object; they are called without the
// lock held.
class FakeAllocator final : public Upstream {
 public:
  enum class Call { kAllocate, kFree, kCreateEvent, kRecord, kIsDone, kSynchronize };

  explicit FakeAllocator(const FakeAllocatorOptions& options = {}) : options_(options) {}
  ~FakeAllocator() override = default;

  void* Allocate(size_t nbytes) override;
  // THROWS if `data` is not in use or was allocated with another size.
  void Free(void* data, size_t nbytes) override;
  Event CreateEvent() override;
  void DestroyEvent(Event event) noexcept override;
  void Record(Event event, StreamIndex stream) override;
  bool IsDone(Event event) override;
  void Synchronize(StreamIndex stream) override;

  // Enqueues `pieces` units of work. Returns the number of the last one, counted from 1.
  uint64_t Give(StreamIndex stream, uint64_t pieces = 1);
  // Finishes the oldest `pieces` unfinished units.
  void Finish(StreamIndex stream, uint64_t pieces = UINT64_MAX);
  uint64_t Given(StreamIndex stream) const;
  uint64_t Finished(StreamIndex stream) const;

  // Counting calls of `call` from now on, starting at 0: those numbered after ... after + count - 1
  // throw.
  void Fail(Call call, uint64_t after = 0, uint64_t count = 1);
  // The same for Allocate, which returns null instead of throwing.
  void Refuse(uint64_t after = 0, uint64_t count = 1);
  uint64_t Calls(Call call) const;

  size_t live_bytes() const;
  size_t peak_bytes() const;
  size_t live_allocations() const;
  size_t live_events() const;

  std::function<void()> before_allocate;
  std::function<void(uintptr_t address, size_t bytes)> before_free;
  std::function<void(StreamIndex stream)> before_synchronize;

 private:
  struct Stream {
    uint64_t given = 0;
    uint64_t finished = 0;
  };
  struct FakeEvent {
    StreamIndex stream = kNoStream;
    uint64_t position = 0;
  };
  struct Plan {
    uint64_t calls = 0;
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    bool refuse = false;
  };

  // Counts the call. Returns true if Allocate must return null. THROWS if the call must fail.
  bool Enter(Call call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Stream& StreamOf(StreamIndex stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FakeAllocatorOptions options_;
  mutable Mutex mutex_;
  std::map<Call, Plan> plans_ ABSL_GUARDED_BY(mutex_);
  std::vector<Stream> streams_ ABSL_GUARDED_BY(mutex_);
  std::set<FakeEvent*> events_ ABSL_GUARDED_BY(mutex_);
  // Allocated: address, bytes.
  std::map<uintptr_t, size_t> live_ ABSL_GUARDED_BY(mutex_);
  // Free: address, bytes. Below end_, never adjacent.
  std::map<uintptr_t, size_t> gaps_ ABSL_GUARDED_BY(mutex_);
  uintptr_t end_ ABSL_GUARDED_BY(mutex_) = kFirstAddress;
  size_t live_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t peak_bytes_ ABSL_GUARDED_BY(mutex_) = 0;

  // Beyond the address space of any process.
  static constexpr uintptr_t kFirstAddress = uintptr_t{1} << 52;
};

}  // namespace caffe2rt::test
