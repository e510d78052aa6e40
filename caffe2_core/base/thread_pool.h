#pragma once
// ParallelFor: the one way work is cut among threads.
//
//   ParallelFor(pieces, [&](int piece) { ... });     // returns when every piece is done
//
// The process's pool has one thread (the caller) unless SetNumThreads or SetThreadPool asks for
// more. A nested call, a call while another thread uses the pool, and a call in a child process
// after fork() run their pieces on the caller. An exception of a piece is rethrown by the caller
// after all pieces that started have ended. Steady state: no allocation and no lock.

#include <memory>
#include <type_traits>
#include <vector>

namespace caffe2rt {

// A call through a pointer to a callable that outlives it.
class PieceFunction {
 public:
  // Not for PieceFunctions, whose copies call the same callable.
  template <class F>
  requires(!std::is_same_v<std::remove_cv_t<F>, PieceFunction>)
      PieceFunction(F& function)  // NOLINT: converts on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* object, int piece) {
          (*static_cast<std::remove_reference_t<F>*>(object))(piece);
        }) {}
  void operator()(int piece) const { call_(object_, piece); }

 private:
  void* object_;
  void (*call_)(void*, int);
};

// An embedder's own pool, which runs the pieces in place of ours (ThreadPoolOptions::runner). It is
// called by several threads at a time, never from within a piece.
class PieceRunner {
 public:
  virtual ~PieceRunner() = default;
  // The most pieces that run at once; at least 1, and always the same number.
  virtual int num_threads() const = 0;
  // Calls function(0) to function(pieces - 1), each once, on any threads, and returns after all
  // have returned. `function` never throws; it may be copied, and is valid until Run returns.
  virtual void Run(int pieces, PieceFunction function) = 0;
};

struct ThreadPoolOptions {
  // Threads that work at once, the caller included; 1 to 1024. One, because several nets side by
  // side use cores better than one net that is cut.
  int num_threads = 1;
  // Numbers of the CPUs on which workers may run. Empty: those of the thread that makes the pool,
  // at that time. Callers keep their own affinity.
  std::vector<int> cpus = {};
  // Microseconds that an idle worker, or a caller that waits for the last piece, spins before it
  // sleeps. 50 outlast the gap between two operators. With fewer CPUs than threads nobody spins;
  // of CPUs that are given, one for each worker is enough.
  int spin_us = 50;
  // After a join that another process stalled, callers run alone for 20 to 640 ms.
  bool back_off = true;
  // Not owned, outlives the pool. When given, the pool starts no threads and ignores the rest.
  PieceRunner* runner = nullptr;
};

// Thread safe. One caller at a time gets the workers.
class ThreadPool {
 public:
  // Workers start here and end with the pool. THROWS for options that are out of range, and for
  // CPUs of which none can be used.
  explicit ThreadPool(const ThreadPoolOptions& options);
  explicit ThreadPool(int num_threads)
      : ThreadPool(ThreadPoolOptions{.num_threads = num_threads}) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  // Piece i of n tends to run on the same thread in every call of n pieces. THROWS what a piece
  // throws; the first one if several do.
  void Run(int pieces, PieceFunction function);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// The process's pool. SetThreadPool replaces it, SetNumThreads replaces it by one with another
// number of threads: call them before nets run. THROWS for less than 1 or more than 1024.
ThreadPool& ProcessThreadPool();
void SetThreadPool(const ThreadPoolOptions& options);
void SetNumThreads(int num_threads);
int GetNumThreads();

template <class F>
void ParallelFor(int pieces, F&& function) {
  if (pieces <= 1 || GetNumThreads() == 1) {
    for (int piece = 0; piece < pieces; ++piece) function(piece);
  } else {
    ProcessThreadPool().Run(pieces, PieceFunction(function));
  }
}

}  // namespace caffe2rt
