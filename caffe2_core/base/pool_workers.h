#pragma once
// PoolWorkers: the workers of a ThreadPool, and how a job is cut among them and its caller.
// ThreadPool alone uses it; the algorithm is described in pool_workers.cc.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

// Marks the thread as one that runs a piece. Such a thread starts no parallel work.
class PieceScope {
 public:
  PieceScope() { active_ = true; }
  ~PieceScope() { active_ = false; }
  PieceScope(const PieceScope&) = delete;
  PieceScope& operator=(const PieceScope&) = delete;
  static bool IsActive() { return active_; }

 private:
  inline static thread_local bool active_ = false;
};

// The first exception of a job. Any number of threads may keep theirs.
class FirstError {
 public:
  void KeepCurrent() {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
  }
  // Null if there was none. REQUIRES: all pieces have ended.
  std::exception_ptr Take() {
    if (!failed_.load(std::memory_order_relaxed)) return nullptr;
    failed_.store(false, std::memory_order_relaxed);
    return std::exchange(error_, nullptr);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

// Thread safe. Used by one caller at a time; others are turned away.
class PoolWorkers {
 public:
  // THROWS when none of options.cpus can be used.
  explicit PoolWorkers(const ThreadPoolOptions& options);
  ~PoolWorkers() { Stop(); }
  PoolWorkers(const PoolWorkers&) = delete;
  PoolWorkers& operator=(const PoolWorkers&) = delete;

  // With the caller.
  int num_threads() const { return static_cast<int>(seats_.size()); }
  // Runs the pieces and returns true, or returns false when the caller should run them alone:
  // there are no workers, another caller has them, or they were stalled a short time ago. THROWS
  // the first exception of a piece.
  bool TryRun(int pieces, const PieceFunction& function);

 private:
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::nanoseconds;

  // The place of a thread that takes part; the caller has seat 0. A cache line of its own for each,
  // because neighbours write.
  struct alignas(64) Seat {
    // Pieces that are left: the first one in the low half, the end in the high half.
    std::atomic<uint64_t> range{0};
    // Jobs given to the seat; what its worker waits on.
    std::atomic<uint32_t> calls{0};
    // 0, or 1 + the calls that its worker had seen when it went to sleep.
    std::atomic<uint64_t> asleep{0};
    int away_from = -1;  // CPU that the worker is excluded from; used by the caller alone
    std::thread worker;  // none at seat 0

    // A piece, or -1 when none is left.
    int TakeFirst();
    int TakeLast();
  };

  void Stop();
  void WorkerLoop(size_t seat);
  uint32_t WaitForCall(Seat& own, uint32_t seen);
  void TakePieces(size_t seat);
  void Call(Seat& seat);
  void PlaceAway(Seat& seat);
  void RunTogether(int pieces, const PieceFunction& function);
  bool Join(Clock::time_point start);
  bool SleepUntilJoined(Clock::time_point start, Clock::time_point wait_start);
  void UpdatePenalty(bool stalled, Clock::time_point start);
  template <class Condition>
  bool SpinUntil(Condition condition) const;

  const cpu_set_t cpus_;
  // Else nobody spins, is placed or backs off. Callers may have cores beside chosen ones.
  const bool has_core_for_each_;
  const bool backs_off_;
  const std::chrono::microseconds spin_;
  const uint32_t forks_;  // of the process, when the workers started
  std::vector<Seat> seats_;
  std::atomic<bool> stop_{false};

  // Held by the caller whose job runs. It alone uses the next block; but workers read `function_`
  // after a claim, and write `error_` before they count their pieces as ended.
  alignas(64) std::atomic<bool> taken_{false};
  const PieceFunction* function_ = nullptr;
  FirstError error_;
  Nanoseconds penalty_{0};
  Clock::time_point alone_until_{};
  std::vector<Nanoseconds> processor_times_;  // by seat, of the workers

  alignas(64) std::atomic<uint32_t> remaining_{0};  // pieces that have not ended
  std::atomic<bool> caller_asleep_{false};
  std::atomic<size_t> seats_in_use_{0};
};

}  // namespace caffe2rt
