#include "caffe2_core/base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

struct ThreadPool::State {
  std::mutex use;  // held by the caller whose work runs
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  const PieceFunction* function = nullptr;
  int pieces = 0;
  std::atomic<int> next{0};
  int running = 0;          // workers inside the present work
  uint64_t generation = 0;  // counts works
  bool stop = false;
  std::exception_ptr error;
  std::vector<std::thread> workers;

  // Takes pieces until none is left; remembers the first exception.
  void TakePieces(const PieceFunction& work, int count) {
    for (int piece = next.fetch_add(1); piece < count; piece = next.fetch_add(1)) {
      try {
        work(piece);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (error == nullptr) error = std::current_exception();
      }
    }
  }

  void WorkerLoop() {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      work_ready.wait(lock, [&] { return stop || (function != nullptr && generation != seen); });
      if (stop) return;
      seen = generation;
      const PieceFunction* work = function;
      const int count = pieces;
      ++running;
      lock.unlock();
      TakePieces(*work, count);
      lock.lock();
      if (--running == 0) work_done.notify_one();
    }
  }
};

namespace {
thread_local bool t_in_pool = false;
}  // namespace

ThreadPool::ThreadPool(int num_threads) : state_(std::make_unique<State>()) {
  CAFFE_ENFORCE(num_threads >= 1 && num_threads <= 1024, "number of threads is ", num_threads,
                ", want 1 to 1024");
  for (int i = 1; i < num_threads; ++i) {
    state_->workers.emplace_back([state = state_.get()] {
      t_in_pool = true;
      state->WorkerLoop();
    });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop = true;
  }
  state_->work_ready.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::num_threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::Run(int pieces, PieceFunction function) {
  State& state = *state_;
  std::unique_lock<std::mutex> use(state.use, std::defer_lock);
  if (t_in_pool || pieces <= 1 || state.workers.empty() || !use.try_lock()) {
    for (int piece = 0; piece < pieces; ++piece) function(piece);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.function = &function;
    state.pieces = pieces;
    state.next.store(0);
    state.error = nullptr;
    ++state.generation;
  }
  state.work_ready.notify_all();
  t_in_pool = true;
  state.TakePieces(function, pieces);
  t_in_pool = false;
  std::unique_lock<std::mutex> lock(state.mutex);
  state.function = nullptr;  // no worker enters any more
  state.work_done.wait(lock, [&] { return state.running == 0; });
  if (state.error != nullptr) {
    const std::exception_ptr error = std::exchange(state.error, nullptr);
    lock.unlock();
    std::rethrow_exception(error);
  }
}

namespace {
struct ProcessPool {
  std::mutex mutex;
  std::atomic<ThreadPool*> pool{nullptr};
  std::atomic<int> num_threads{1};
};
ProcessPool& Process() {
  static ProcessPool* const process = new ProcessPool;
  return *process;
}
}  // namespace

ThreadPool& ProcessThreadPool() {
  ProcessPool& process = Process();
  if (process.pool.load(std::memory_order_acquire) == nullptr) SetNumThreads(1);
  return *process.pool.load(std::memory_order_acquire);
}

void SetNumThreads(int num_threads) {
  auto fresh = std::make_unique<ThreadPool>(num_threads);
  ProcessPool& process = Process();
  std::lock_guard<std::mutex> lock(process.mutex);
  const std::unique_ptr<ThreadPool> old(process.pool.load());
  process.pool.store(fresh.release(), std::memory_order_release);
  process.num_threads.store(num_threads, std::memory_order_relaxed);
}

int GetNumThreads() { return Process().num_threads.load(std::memory_order_relaxed); }

}  // namespace caffe2rt
