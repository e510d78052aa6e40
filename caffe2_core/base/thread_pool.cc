#include "caffe2_core/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cfenv>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/first_error.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/piece_fp_exceptions.h"
#include "caffe2_core/base/piece_helpers.h"
#include "caffe2_core/base/pool_workers.h"
#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/base/work_scope.h"

namespace caffe2rt {

namespace {

std::atomic<bool>& CollectsFpExceptions() {
  static constinit std::atomic<bool> collects{false};
  return collects;
}

const ThreadPoolOptions& Checked(const ThreadPoolOptions& options) {
  CAFFE_ENFORCE(options.num_threads >= 1 && options.num_threads <= 1024, "number of threads is ",
                options.num_threads, ", want 1 to 1024");
  CAFFE_ENFORCE_GE(options.spin_us, 0, "microseconds that a thread pool spins");
  CAFFE_ENFORCE(options.runner == nullptr || options.runner->num_threads() >= 1,
                "the runner of a thread pool has ", options.runner->num_threads(),
                " threads, want at least 1");
  return options;
}

// Runs the pieces on an embedder's runner, which must not see exceptions: the first one is kept and
// rethrown at the end.
void RunOn(PieceRunner& runner, int pieces, const PieceFunction& function) {
  FirstError error;
  auto guarded = [&](int piece) {
    const PieceScope scope;
    try {
      function(piece);
    } catch (...) {
      error.KeepCurrent();
    }
  };
  runner.Run(pieces, PieceFunction(guarded));
  if (const std::exception_ptr first = error.Take()) std::rethrow_exception(first);
}

}  // namespace

struct ThreadPool::State {
  explicit State(const ThreadPoolOptions& options)
      : runner(Checked(options).runner), workers(options) {}

  void Run(int pieces, PieceFunction function) {
    if (pieces > 1 && !PieceScope::IsActive()) {
      if (runner != nullptr) return RunOn(*runner, pieces, function);
      if (workers.TryRun(pieces, function)) return;
    } else if (pieces > 1 && PieceScope::helpers() != nullptr) {
      return PieceScope::helpers()->Run(pieces, function);
    }
    for (int piece = 0; piece < pieces; ++piece) function(piece);
  }
  void RunAndCollectFpExceptions(int pieces, PieceFunction function);

  PieceRunner* const runner;  // not owned; null: the workers run the pieces
  PoolWorkers workers;
};

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : state_(std::make_unique<State>(options)) {}

ThreadPool::~ThreadPool() = default;

int ThreadPool::num_threads() const {
  return state_->runner != nullptr ? state_->runner->num_threads() : state_->workers.num_threads();
}

void ThreadPool::State::RunAndCollectFpExceptions(int pieces, PieceFunction function) {
  std::atomic<int> raised{std::fetestexcept(FE_ALL_EXCEPT)};
  auto collecting = [&](int piece) {
    std::feclearexcept(FE_ALL_EXCEPT);  // what the worker's earlier pieces raised
    function(piece);
    raised.fetch_or(std::fetestexcept(FE_ALL_EXCEPT), std::memory_order_relaxed);
  };
  Run(pieces, PieceFunction(collecting));
  std::feraiseexcept(raised.load(std::memory_order_relaxed));
}

void ThreadPool::Run(int pieces, PieceFunction function) {
  // Work that may use fewer threads, and whose pieces do not depend on their number.
  const int most = t_thread_state.threads;
  if (most > 0 && pieces > most) {
    auto run_share = [&](int first) {
      for (int piece = first; piece < pieces; piece += most) function(piece);
    };
    return Run(most, PieceFunction(run_share));
  }
  auto for_any_machine = [inner = function](int piece) {
    const WorkScope scope({.any_machine = true});
    inner(piece);
  };
  if (WorksForAnyMachine()) function = PieceFunction(for_any_machine);
  if (__builtin_expect(CollectsFpExceptions().load(std::memory_order_relaxed), 0)) {
    return state_->RunAndCollectFpExceptions(pieces, function);
  }
  state_->Run(pieces, function);
}

void CollectFpExceptionsOfPieces(bool collect) {
  CollectsFpExceptions().store(collect, std::memory_order_relaxed);
}

namespace {
struct ProcessPool {
  Mutex mutex;
  ThreadPoolOptions options ABSL_GUARDED_BY(mutex);  // of the current pool
  std::atomic<ThreadPool*> pool{nullptr};
  std::atomic<int> num_threads{1};
  std::atomic<bool> is_of_embedder{false};

  void Replace(const ThreadPoolOptions& wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    auto fresh = std::make_unique<ThreadPool>(wanted);
    options = wanted;
    num_threads.store(fresh->num_threads(), std::memory_order_relaxed);
    is_of_embedder.store(wanted.runner != nullptr, std::memory_order_relaxed);
    const std::unique_ptr<ThreadPool> old(
        pool.exchange(fresh.release(), std::memory_order_acq_rel));
  }
};
ProcessPool& Process() {
  static ProcessPool* const process = new ProcessPool;
  return *process;
}
}  // namespace

ThreadPool& ProcessThreadPool() {
  ProcessPool& process = Process();
  ThreadPool* pool = process.pool.load(std::memory_order_acquire);
  if (pool == nullptr) {
    const MutexLock lock(process.mutex);
    if (process.pool.load() == nullptr) process.Replace(process.options);
    pool = process.pool.load();
  }
  return *pool;
}

void SetThreadPool(const ThreadPoolOptions& options) {
  ProcessPool& process = Process();
  const MutexLock lock(process.mutex);
  process.Replace(options);
}

void SetNumThreads(int num_threads) {
  ProcessPool& process = Process();
  const MutexLock lock(process.mutex);
  ThreadPoolOptions changed = process.options;
  changed.num_threads = num_threads;
  process.Replace(changed);
}

int GetNumThreads() {
  const int all = Process().num_threads.load(std::memory_order_relaxed);
  const int wanted = t_thread_state.threads;
  return wanted > 0 ? std::min(wanted, all) : all;
}

bool IsPoolOfEmbedder() { return Process().is_of_embedder.load(std::memory_order_relaxed); }

}  // namespace caffe2rt
