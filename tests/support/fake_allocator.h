#pragma once
// An upstream for pools without a device: addresses instead of memory, streams that work when told.
//
//   FakeAllocator device({.limit_bytes = 1 << 20});
//   device.Give(0);            // stream 0 gets a piece of work
//   ...                        // events recorded now are not done
//   device.Finish(0);          // it works off what it has
//
// A stream is two numbers: how many pieces of work it was given and how many are over. Addresses
// that were freed are given out again at once, the lowest first, so that mistakes about them show.
// Reading or writing the "memory" would crash.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "contexts/pool/upstream.h"

namespace caffe2rt::test {

struct FakeAllocatorOptions {
  size_t limit_bytes = SIZE_MAX;
};

// Thread safe; hooks are set before threads use it, and run without its lock.
class FakeAllocator final : public Upstream {
 public:
  enum class Call { kAllocate, kFree, kCreateEvent, kRecord, kIsDone, kSynchronize };

  explicit FakeAllocator(const FakeAllocatorOptions& options = {}) : options_(options) {}
  ~FakeAllocator() override = default;

  void* Allocate(size_t nbytes) override;
  // THROWS for memory that is not in use or of another size.
  void Free(void* data, size_t nbytes) override;
  Event CreateEvent() override;
  void DestroyEvent(Event event) noexcept override;
  void Record(Event event, StreamIndex stream) override;
  bool IsDone(Event event) override;
  void Synchronize(StreamIndex stream) override;

  // Work given to a stream; the number of the last piece is returned.
  uint64_t Give(StreamIndex stream, uint64_t pieces = 1);
  // The oldest `pieces` that are not over are, now.
  void Finish(StreamIndex stream, uint64_t pieces = UINT64_MAX);
  uint64_t Given(StreamIndex stream) const;
  uint64_t Finished(StreamIndex stream) const;

  // The calls of `call` number `after`, after + 1, ... after + count - 1 from now on throw.
  void Fail(Call call, uint64_t after = 0, uint64_t count = 1);
  // Allocate gives null where Fail would make it throw.
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

  // Counts the call; whether it shall be refused. THROWS when it shall fail.
  bool Enter(Call call);
  Stream& StreamOf(StreamIndex stream);

  const FakeAllocatorOptions options_;
  mutable std::mutex mutex_;
  std::map<Call, Plan> plans_;
  std::vector<Stream> streams_;
  std::set<FakeEvent*> events_;
  std::map<uintptr_t, size_t> live_;  // address, bytes
  std::map<uintptr_t, size_t> gaps_;  // below end_, never neighbours
  uintptr_t end_ = kFirstAddress;
  size_t live_bytes_ = 0;
  size_t peak_bytes_ = 0;

  // No address space of a process reaches it.
  static constexpr uintptr_t kFirstAddress = uintptr_t{1} << 52;
};

}  // namespace caffe2rt::test
