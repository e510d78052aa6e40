#pragma once
// PoolWorkers: the worker threads of a ThreadPool. Divides a job among the workers and the caller.
// Used only by ThreadPool; pool_workers.cc describes the algorithm.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "caffe2_core/base/first_error.h"
#include "caffe2_core/base/piece_range.h"
#include "caffe2_core/base/pool_choice.h"
#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

class PieceHelpers;

// Identifies the operator that the calling thread runs, by the innermost net; 0 outside of nets. The
// definition is in caffe2_core/runtime/running_net.cc.
uint64_t RunningOperatorKey();

// Marks the calling thread as one that runs pieces. Such a thread starts no parallel work, unless it
// has helpers (piece_helpers.h).
class PieceScope {
 public:
  PieceScope() { Set(true, nullptr, 0); }
  ~PieceScope() { Set(false, nullptr, 0); }
  PieceScope(const PieceScope&) = delete;
  PieceScope& operator=(const PieceScope&) = delete;
  static bool IsActive() { return state_.active; }
  static PieceHelpers* helpers() { return state_.helpers; }
  static int seat() { return state_.seat; }
  // For PieceHelpers::Scope.
  static void Set(bool active, PieceHelpers* helpers, int seat) {
    state_ = {active, helpers, seat};
  }

 private:
  struct State {
    bool active;
    PieceHelpers* helpers;
    int seat;
  };
  inline static constinit thread_local State state_{};
};

// Thread safe. Serves one caller at a time; TryRun returns false to the others.
class PoolWorkers {
 public:
  // THROWS if the workers cannot run on any of options.cpus.
  explicit PoolWorkers(const ThreadPoolOptions& options);
  ~PoolWorkers() { Stop(); }
  PoolWorkers(const PoolWorkers&) = delete;
  PoolWorkers& operator=(const PoolWorkers&) = delete;

  // The number of threads, including the caller.
  int num_threads() const { return static_cast<int>(seats_.size()); }
  // Runs the pieces on the workers and the caller and returns true. Returns false, and runs
  // nothing, if the caller should run the pieces alone: there are no workers, another caller uses
  // them, or that is faster at present (pool_choice.h). THROWS the first exception of a piece.
  bool TryRun(int pieces, const PieceFunction& function);

 private:
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::nanoseconds;

  // The state of one participating thread. The caller has seat 0, and each worker one of the
  // others. Each seat has its own cache line to avoid false sharing.
  struct alignas(64) Seat {
    PieceRange left;  // pieces of the current job
    // The number of jobs given to the seat. The worker waits on this word.
    std::atomic<uint32_t> calls{0};
    // 0 if the worker is awake; otherwise 1 + the value of `calls` that it saw before it went to
    // sleep.
    std::atomic<uint64_t> asleep{0};
    int away_from = -1;  // the CPU that the worker is excluded from; used only by the caller
    std::thread worker;  // not used at seat 0
  };

  void Stop();
  void WorkerLoop(size_t seat);
  uint32_t WaitForCall(Seat& own, uint32_t seen);
  // Returns the number of pieces that it has run.
  uint32_t TakePieces(size_t seat);
  void Call(Seat& seat);
  void PlaceAway(Seat& seat);
  // The number of pieces that the caller ran itself, and of all.
  struct Share {
    uint32_t own = 0;
    uint32_t pieces = 0;
  };
  void RunMeasured(int pieces, const PieceFunction& function, uint64_t key,
                   Clock::time_point start);
  Share RunTogether(int pieces, const PieceFunction& function);
  bool Join(Clock::time_point start, Clock::time_point wait_start, const Share& share);
  bool SleepUntilJoined(Clock::time_point start, Clock::time_point wait_start, const Share& share);
  template <class Condition>
  bool SpinUntil(Condition condition) const;

  const cpu_set_t cpus_;
  // Whether there are enough CPUs for all threads. If not, no thread spins, is moved away from the
  // caller's CPU, or backs off. If CPUs were chosen, the caller needs none of them.
  const bool has_core_for_each_;
  const bool backs_off_;
  const std::chrono::microseconds spin_;
  const uint32_t forks_;  // the fork counter when the workers started
  std::vector<Seat> seats_;
  std::atomic<bool> stop_{false};

  // True while a caller's job runs. Only that caller accesses the members up to `processor_times_`,
  // with two exceptions: workers read `function_` after they claim a piece, and write `error_`
  // before they count their pieces as ended.
  alignas(64) std::atomic<bool> taken_{false};
  const PieceFunction* function_ = nullptr;
  FirstError error_;
  PoolChoice choice_;
  std::vector<Nanoseconds> processor_times_;  // of the workers, by seat

  alignas(64) std::atomic<uint32_t> remaining_{0};  // pieces that have not ended
  std::atomic<bool> caller_asleep_{false};
  std::atomic<size_t> seats_in_use_{0};
};

}  // namespace caffe2rt
