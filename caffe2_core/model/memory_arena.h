#pragma once
// MemoryArena: the memory of the activations of one running net. ArenaStock: the arenas of several
// nets that need them only while they run, such as the instances of a predictor.
//
//   ArenaStock stock;
//   MemoryArena* arena = stock.Lease(nullptr);
//   arena->Reserve(plan.arena_bytes);
//   ...                                              // run the net
//   stock.Return(arena);

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

// CPU memory from the CPU allocator. May be used by one thread at a time.
class MemoryArena {
 public:
  explicit MemoryArena(int slot) : slot_(slot) {}

  // Provides at least `bytes`. Frees the old memory first if it is too small. THROWS OutOfMemory.
  void Reserve(size_t bytes);
  void Free();
  char* data() const { return static_cast<char*>(memory_.get()); }
  size_t bytes() const { return bytes_; }
  // Identifies the memory: never used again in this process, unlike an address. 0 if there is none.
  uint64_t id() const { return id_; }
  int slot() const { return slot_; }

 private:
  const int slot_;
  DataPtr memory_;
  size_t bytes_ = 0;
  uint64_t id_ = 0;
};

// Thread safe. Lease takes no lock if an idle arena exists, and Return takes none while others are
// leased or there are at most `idle_arenas`.
class ArenaStock {
 public:
  // The number of arenas that can be leased at once.
  static constexpr int kMostArenas = 1024 + 1;

  // While no arena is leased, `idle_arenas` of them keep their memory.
  explicit ArenaStock(int idle_arenas = 1) : idle_arenas_(idle_arenas) {}
  ArenaStock(const ArenaStock&) = delete;
  ArenaStock& operator=(const ArenaStock&) = delete;

  // An idle arena, `preferred` if that is idle; `preferred` may be null. If there is none, creates
  // one without memory. The stock owns it. THROWS if kMostArenas are leased.
  MemoryArena* Lease(const MemoryArena* preferred);
  // When the last leased arena is returned, the memory of all but `idle_arenas` arenas is freed.
  void Return(MemoryArena* arena);
  // The bytes of all arenas. REQUIRES: no arena is leased or returned meanwhile.
  size_t bytes() const;

 private:
  void FreeSurplus();

  const int idle_arenas_;
  std::atomic<MemoryArena*> idle_[kMostArenas] = {};  // by slot; null while leased
  std::atomic<int> count_{0};
  std::atomic<int> leased_{0};
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<MemoryArena>> all_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
