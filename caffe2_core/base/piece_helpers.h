#pragma once
// PieceHelpers: threads that work on one job, such as a net, and help each other with the pieces of
// ParallelFor while they have nothing else to do.
//
//   PieceHelpers helpers(threads);                       // each thread has a seat, 0 to threads - 1
//   // in each thread of the job
//   const PieceHelpers::Scope scope(&helpers, seat);
//   while (!IsDone()) {
//     if (TakeWork()) continue;                          // whose ParallelFor offers its pieces
//     if (helpers.Help(seat)) continue;
//     helpers.Await([&](bool) { return IsDone() || HasWork(); });
//   }
//   // where work appears, or the job ends
//   helpers.Notify(number_of_threads_to_wake);
//
// A thread that calls ParallelFor runs the pieces that nobody else takes, so it never waits for a
// thread to come and help. ParallelFor in a piece runs alone. Steady state: no allocation, no lock.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/first_error.h"
#include "caffe2_core/base/futex.h"
#include "caffe2_core/base/piece_range.h"
#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

// Thread safe, except that only one thread may use a seat.
class PieceHelpers {
 public:
  explicit PieceHelpers(int threads);
  PieceHelpers(const PieceHelpers&) = delete;
  PieceHelpers& operator=(const PieceHelpers&) = delete;

  int num_threads() const { return static_cast<int>(jobs_.size()); }

  // While it exists, ParallelFor on this thread offers its pieces to the helpers; with null, it runs
  // alone. Create it on the stack, on a thread that has no other work.
  class Scope {
   public:
    Scope(PieceHelpers* helpers, int seat);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PieceHelpers* const helpers_before_;
    const int seat_before_;
    const bool active_before_;
  };
  // Those of the calling thread, or null.
  static PieceHelpers* OfThisThread();

  // Runs the pieces, with the help of others, and returns when all are done. THROWS the first
  // exception of a piece. REQUIRES: the calling thread is in a Scope of this object.
  void Run(int pieces, const PieceFunction& function);
  // Runs pieces of the other seats' jobs until none is left. Returns whether there was one.
  bool Help(int seat);

  // Waits until `condition(last)` is true, or until pieces are offered: spins, looking about once a
  // microsecond, and then sleeps until Notify, unless the condition with `last` set is true. Notify
  // wakes up to `threads` threads; call it after the change.
  template <class Condition>
  void Await(Condition condition) {
    (void)Await(condition, [] { return std::chrono::nanoseconds::zero(); });
  }
  // The same, but the sleep ends after `longest()`, if that is not zero. Returns whether it has. What
  // `longest` depends on may change, with Notify, until the thread sleeps.
  template <class Condition, class Longest>
  [[nodiscard]] bool Await(Condition condition, Longest longest);
  void Notify(int threads) {
    if (sleeping_.load() > 0) Wake(threads);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kPausesBetweenLooks = 16;

  // The pieces that a thread offers. Everything that a piece needs to know is read after the claim:
  // a job cannot end while a claimed piece runs, so a successful claim belongs to the current job.
  struct alignas(64) Job {
    PieceRange left;
    const PieceFunction* function = nullptr;
    std::atomic<uint32_t> remaining{0};  // pieces that have not ended
    std::atomic<bool> owner_asleep{false};
    FirstError error;
  };

  bool AreOffered() const;
  // The seats of one half take pieces from the front, and the others from the back, also of their own
  // jobs: so piece i tends to run on the same thread, and to find its data in the cache of its core,
  // whichever thread offers the job.
  bool TakesFirst(int seat) const { return 2 * seat < num_threads(); }
  // Runs the pieces of the job that can be claimed, from the front or from the back. Returns how
  // many.
  uint32_t TakePieces(Job& job, bool from_front);
  void Join(Job& job);
  void Wake(int threads);
  // Looks at the condition after so many pauses of the processor.
  template <class Condition>
  bool SpinUntil(Condition condition, int pauses) const;

  std::vector<Job> jobs_;  // by seat
  const std::chrono::microseconds spin_;
  alignas(64) std::atomic<uint32_t> signal_{0};
  std::atomic<uint32_t> sleeping_{0};
};

// Whether an embedder runs the pieces of the process's pool (ThreadPoolOptions::runner): in any order,
// and not necessarily on the calling thread.
bool IsPoolOfEmbedder();

template <class Condition>
bool PieceHelpers::SpinUntil(Condition condition, int pauses) const {
  constexpr int kChecksPerClockRead = 16;
  if (condition()) return true;
  if (spin_ == std::chrono::microseconds::zero()) return false;
  const Clock::time_point end = Clock::now() + spin_;
  do {
    for (int i = 0; i < kChecksPerClockRead; ++i) {
      for (int pause = 0; pause < pauses; ++pause) Pause();
      if (condition()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

// A thread that goes to sleep counts itself first and then looks again; a thread that changes
// something looks at the count afterwards. Both are sequentially consistent, so one sees the other.
template <class Condition, class Longest>
bool PieceHelpers::Await(Condition condition, Longest longest) {
  const auto ready = [&] { return condition(false) || AreOffered(); };
  // Frequent looks would take the cache lines away from the threads that work.
  if (SpinUntil(ready, kPausesBetweenLooks)) return false;
  sleeping_.fetch_add(1);
  const uint32_t seen = signal_.load();
  bool is_over = false;
  if (!condition(true) && !AreOffered()) {
    const std::chrono::nanoseconds most = longest();
    if (most == std::chrono::nanoseconds::zero()) {
      FutexWait(signal_, seen);
    } else {
      is_over = FutexWait(signal_, seen, most);
    }
  }
  sleeping_.fetch_sub(1);
  return is_over;
}

}  // namespace caffe2rt
