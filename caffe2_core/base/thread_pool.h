#pragma once
// ParallelFor: the one way work is cut among threads.
//
//   ParallelFor(pieces, [&](int piece) { ... });     // returns when every piece is done
//
// The process's pool has one thread (the caller) unless SetNumThreads asks for more. A nested call,
// and a call while another thread uses the pool, runs its pieces on the caller. Exceptions of a
// piece are rethrown by the caller after all pieces ended. Steady state: no allocation; with one
// thread no lock either.

#include <memory>
#include <type_traits>

namespace caffe2rt {

// A call through a pointer to a callable that outlives it.
class PieceFunction {
 public:
  template <class F>
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

class ThreadPool {
 public:
  // `num_threads` includes the caller; at least 1. Workers start here and end with the pool.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  void Run(int pieces, PieceFunction function);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// The process's pool. SetNumThreads replaces it: call it before nets run. THROWS for less than 1 or
// more than 1024.
ThreadPool& ProcessThreadPool();
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
