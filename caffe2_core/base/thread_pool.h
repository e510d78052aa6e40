#pragma once
// ParallelFor: divides work among threads. All parallel loops of the library use it.
//
//   ParallelFor(pieces, [&](int piece) { ... });     // returns when every piece is done
//
// The pool of the process has one thread (the caller) unless SetNumThreads or SetThreadPool sets
// more. Three kinds of calls run all pieces on the calling thread: a nested call, a call while
// another thread uses the pool, and a call in a child process after fork(). If a piece throws, the
// caller rethrows the exception after all pieces that started have ended. A call allocates nothing
// and acquires no lock.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/language.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A reference to a callable, which must outlive it.
class PieceFunction {
 public:
  // Does not accept a PieceFunction: copies of one refer to the same callable.
  // clang-format 14 misplaces line breaks around a requires clause.
  // clang-format off
  template <class F>
  requires(!std::is_same_v<std::remove_cv_t<F>, PieceFunction>)
  PieceFunction(F& function)  // NOLINT: converts on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* object, int piece) {
          (*static_cast<std::remove_reference_t<F>*>(object))(piece);
        }) {}
  // clang-format on
  void operator()(int piece) const { call_(object_, piece); }

 private:
  void* object_;
  void (*call_)(void*, int);
};

// An embedder's thread pool that runs the pieces instead of the library's
// (ThreadPoolOptions::runner). Several threads may call it at the same time; it is never called
// from within a piece.
class PieceRunner {
 public:
  virtual ~PieceRunner() = default;
  // The maximum number of pieces that run at once. Must be at least 1 and must not change.
  virtual int num_threads() const = 0;
  // Must call function(0) to function(pieces - 1), each once, on any threads, and return after all
  // of these calls have returned. `function` never throws. It may be copied, and is valid until Run
  // returns.
  virtual void Run(int pieces, PieceFunction function) = 0;
};

struct ThreadPoolOptions {
  // The number of threads, including the caller; 1 to 1024. The default is one, because several
  // nets that run concurrently use the cores better than one net whose operators are divided.
  int num_threads = 1;
  // The numbers of the CPUs on which workers may run. If empty, the CPUs on which the thread that
  // creates the pool may run at that time. Callers keep their own affinity.
  std::vector<int> cpus = {};
  // Microseconds for which an idle worker, or a caller that waits for the last piece, spins before
  // it sleeps. The default is longer than the gap between two operators. Threads do not spin if
  // there are fewer CPUs than threads; if `cpus` is given, one CPU per worker is enough.
  int spin_us = 50;
  // Run calls on the calling thread where that is measured to be faster: for 20 to 640 ms after
  // other processes have delayed the workers, and for operators that gain nothing (pool_choice.h).
  bool back_off = true;
  // Runs the pieces instead of the pool's threads. Not owned; must outlive the pool. If it is set,
  // the pool starts no threads, and the other options have no effect.
  PieceRunner* runner = nullptr;
};

int GetNumThreads();  // of the pool of the process, below

// Thread safe. The workers serve one caller at a time; the pieces of other callers run on the
// calling thread.
class ThreadPool {
 public:
  // Starts the workers; the destructor stops them. THROWS if an option is out of range or none of
  // the CPUs can be used.
  explicit ThreadPool(const ThreadPoolOptions& options);
  explicit ThreadPool(int num_threads)
      : ThreadPool(ThreadPoolOptions{.num_threads = num_threads}) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  // Runs function(0) to function(pieces - 1) and returns when all are done. In calls with the same
  // number of pieces, piece i tends to run on the same thread. THROWS the first exception that a
  // piece throws.
  void Run(int pieces, PieceFunction function);

  // Caffe2's names. `run` calls function(thread, i) for each i below `range` and returns when all
  // are done. Calls that run at the same time have different values of `thread`, which are below
  // getNumThreads(). A range below the minimum work size runs on one thread. THROWS the first
  // exception of `function`.
  template <class F>
  void run(const F& function, size_t range) {
    const PartsOfRange parts(range, num_threads(), getMinWorkSize());
    auto run_part = [&](int part) {
      for (size_t i = parts.begin(part); i < parts.begin(part + 1); ++i) function(part, i);
    };
    Run(parts.count(), PieceFunction(run_part));
  }
  // A new pool with as many threads as that of the process.
  static std::unique_ptr<ThreadPool> defaultThreadPool() {
    return std::make_unique<ThreadPool>(GetNumThreads());
  }
  int getNumThreads() const { return num_threads(); }
  void setMinWorkSize(size_t size) { min_work_size_.store(size, std::memory_order_relaxed); }
  size_t getMinWorkSize() const { return min_work_size_.load(std::memory_order_relaxed); }

 private:
  // `range` indices in contiguous parts of about the same length, at most one for each thread.
  class PartsOfRange {
   public:
    PartsOfRange(size_t range, int threads, size_t min_work_size)
        : range_(range),
          count_(range < min_work_size ? std::min<size_t>(range, 1)
                                       : std::min<size_t>(range, static_cast<size_t>(threads))) {}
    int count() const { return static_cast<int>(count_); }
    size_t begin(int part) const {
      const size_t whole = range_ / count_, rest = range_ % count_;
      return static_cast<size_t>(part) * whole + std::min<size_t>(static_cast<size_t>(part), rest);
    }

   private:
    size_t range_;
    size_t count_;
  };

  std::atomic<size_t> min_work_size_ = 1;
  struct State;
  const std::unique_ptr<State> state_;
};

// The thread pool of the process. SetThreadPool replaces it; SetNumThreads replaces it with a pool
// that has another number of threads and the same other options. Call them before nets run. They
// THROW for options that are out of range.
ThreadPool& ProcessThreadPool();
void SetThreadPool(const ThreadPoolOptions& options);
void SetNumThreads(int num_threads);

// Calls function(0) to function(pieces - 1), possibly in parallel, and returns when all are done.
// THROWS what a piece throws.
template <class F>
void ParallelFor(int pieces, F&& function) {
  if (pieces <= 1 || GetNumThreads() == 1) {
    for (int piece = 0; piece < pieces; ++piece) function(piece);
  } else {
    ProcessThreadPool().Run(pieces, PieceFunction(function));
  }
}

}  // namespace caffe2rt
#pragma GCC visibility pop
